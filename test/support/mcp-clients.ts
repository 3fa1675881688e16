import { Client, StreamableHTTPClientTransport, type CreateMessageResult, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { programOf } from './app-program.js';

export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
export type Revision = (typeof REVISIONS)[number];

export interface ConnectOptions {
  readonly key: string;
  /** Requests go to these in turn: any gateway serves any request. */
  readonly urls: readonly string[];
  /** Words after `toolyard mcp`, which the client starts instead of using HTTP. */
  readonly stdio?: readonly string[];
  /** The user of the client; without one it declares no elicitation. */
  readonly user?: (question: string, form: unknown) => Promise<ElicitResult> | ElicitResult;
  /** The model of the client; without one it declares no sampling. */
  readonly model?: (params: unknown) => CreateMessageResult;
  readonly onToolsChanged?: () => void;
}

export interface CallOptions {
  readonly meta?: Record<string, unknown>;
  readonly onprogress?: (step: { progress: number; total?: number | undefined; message?: string | undefined }) => void;
  readonly signal?: AbortSignal;
}

export interface TestResult {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly uri?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** An SDK client of either line, as far as the tests use both. */
export interface TestClient {
  readonly instructions: string | undefined;
  tools(cursor?: string): Promise<{ tools: readonly { name: string; annotations?: object; outputSchema?: object }[]; nextCursor?: string }>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<TestResult>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

const INFO = { name: 'mcp-tests', version: '1.0.0' };

export async function connectMcp(revision: Revision, options: ConnectOptions): Promise<TestClient> {
  return revision === '2026-07-28' ? connectNewer(options) : connectOlder(options);
}

async function connectNewer({ user, model, onToolsChanged, ...where }: ConnectOptions): Promise<TestClient> {
  const client = new Client(INFO, {
    capabilities: capabilitiesOf(user, model),
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    ...(onToolsChanged === undefined ? {} : { listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } } }),
  });
  if (user !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => user(params.message, formOf(params)));
  if (model !== undefined) client.setRequestHandler('sampling/createMessage', ({ params }) => model(params));
  const { stdio } = where;
  await client.connect(
    stdio === undefined
      ? new StreamableHTTPClientTransport(new URL('/mcp', where.urls[0]), transportOptions(where))
      : new StdioClientTransport(command(where, stdio)),
  );
  return {
    instructions: client.getInstructions(),
    tools: (cursor) => client.listTools(cursor === undefined ? {} : { cursor }),
    call: (name, args = {}, { meta, ...more } = {}) => client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, more),
    read: async (uri) => textOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

async function connectOlder({ user, model, onToolsChanged, ...where }: ConnectOptions): Promise<TestClient> {
  const client = new OlderClient(INFO, { capabilities: capabilitiesOf(user, model) });
  if (user !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => user(params.message, formOf(params)) as never);
  if (model !== undefined) client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => model(params));
  if (onToolsChanged !== undefined) client.setNotificationHandler(ToolListChangedNotificationSchema, () => onToolsChanged());
  const { stdio } = where;
  let opened: (() => void) | undefined;
  const isOpen = new Promise<void>((resolve) => (opened = resolve));
  const transport =
    stdio === undefined
      ? new OlderTransport(new URL('/mcp', where.urls[0]), transportOptions(where, opened))
      : new OlderStdioTransport(command(where, stdio));
  await client.connect(transport);
  // The client does not wait for the stream of notifications, which tells of later changes only.
  if (stdio === undefined && onToolsChanged !== undefined) await isOpen;
  return {
    instructions: client.getInstructions(),
    tools: (cursor) => client.listTools(cursor === undefined ? {} : { cursor }),
    call: (name, args = {}, { meta, ...more } = {}) =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, undefined, more) as Promise<TestResult>,
    read: async (uri) => textOf(await client.readResource({ uri })),
    close: async () => {
      if (transport instanceof OlderTransport) await transport.terminateSession();
      await client.close();
    },
  };
}

function capabilitiesOf(user: ConnectOptions['user'], model: ConnectOptions['model']) {
  return { ...(user === undefined ? {} : { elicitation: {} }), ...(model === undefined ? {} : { sampling: {} }) };
}

function command({ key, urls: [url = ''] }: Pick<ConnectOptions, 'key' | 'urls'>, words: readonly string[]) {
  const env = { PATH: process.env['PATH'] ?? '', TOOLYARD_URL: url, TOOLYARD_API_KEY: key };
  return { command: process.execPath, args: [programOf('cli'), 'mcp', ...words], env };
}

/** `onStream` is called when the stream that the client asks for with GET is answered. */
function transportOptions({ key, urls }: Pick<ConnectOptions, 'key' | 'urls'>, onStream?: () => void) {
  let requests = 0;
  const fetchInTurn = async (url: string | URL, init?: RequestInit) => {
    const response = await fetch(new URL(new URL(url).pathname, urls[requests++ % urls.length]), init);
    if (init?.method === 'GET') onStream?.();
    return response;
  };
  return { requestInit: { headers: { authorization: `Bearer ${key}` } }, fetch: fetchInTurn };
}

function formOf(params: object): unknown {
  return 'requestedSchema' in params ? params.requestedSchema : undefined;
}

function textOf({ contents }: { contents: readonly object[] }): string {
  const [first] = contents;
  return first !== undefined && 'text' in first ? String(first.text) : '';
}
