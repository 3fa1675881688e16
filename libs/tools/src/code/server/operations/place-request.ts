import { type ToolContext, ToolError } from '#tool-sdk';
import type { LanguageServer, ShownDocument } from '../language-server.js';
import type { LanguageServers } from '../language-servers.js';
import type { OpenDocument } from '../open-documents.js';

/** A place in a file, as the tools take it: row and column count from 1. */
export interface PlaceArguments {
  readonly row?: number | undefined;
  readonly column?: number | undefined;
}

export interface PlaceRequest {
  readonly path: string;
  readonly row: number;
  readonly column: number;
}

export interface ServerRun {
  readonly servers: LanguageServers;
  readonly ctx: ToolContext;
}

/** @throws ToolError for a place that is none */
export function checkPlace({ row, column }: PlaceArguments, isNeeded: boolean): void {
  for (const [name, value] of Object.entries({ row, column })) {
    if (value === undefined && (isNeeded || row !== undefined || column !== undefined))
      throw new ToolError('invalid_arguments', `Missing '${name}': a place in a file needs row and column`);
    if (value !== undefined && value < 1) throw new ToolError('invalid_arguments', `${name} must be >= 1 (got ${value})`);
  }
}

export interface PlaceInServer {
  readonly server: LanguageServer;
  readonly document: ShownDocument;
  /** Parameters of a request about the place. */
  readonly params: {
    readonly textDocument: { readonly uri: string };
    readonly position: { readonly line: number; readonly character: number };
  };
}

/** Sends a request about a place to the server of its file. */
export async function atPlace<T>(
  request: PlaceRequest,
  { servers, ctx }: ServerRun,
  ask: (place: PlaceInServer) => Promise<T>,
): Promise<T> {
  return servers.use(servers.required(request.path), ctx, async (server) => {
    const document = await server.show(request.path, ctx);
    const position = { line: request.row - 1, character: request.column - 1 };
    checkRow(request.row, document);
    return ask({ server, document, params: { textDocument: { uri: document.uri }, position } });
  });
}

/** @throws ToolError if the server does not declare the capability */
export function requireCapability(server: LanguageServer, capability: string, what: string): void {
  if (!server.can(capability))
    throw new ToolError('unavailable', `The language server ${server.settings.name} has no ${what}.`, { retryable: false });
}

function checkRow(row: number, { text, path }: OpenDocument): void {
  const rows = text.split('\n').length;
  if (row > rows) throw new ToolError('invalid_arguments', `row ${row} is beyond the end of ${path}, which has ${rows} rows`);
}
