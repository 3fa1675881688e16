import type { ToolOutputObject } from '#tool-sdk';
import { type ServerRun, requireCapability } from '../server/operations/place-request.js';
import { TextEdits, parseAnswer } from '../server/server-answers.js';
import { changeFiles } from './change-files.js';
import { plannedEdits } from './text-edits.js';

export interface FormatRequest {
  readonly path: string;
  readonly tabSize: number;
  readonly insertSpaces: boolean;
  readonly dryRun: boolean;
}

/** Formats a file by the rules of its server. */
export async function formatFile(
  { path, tabSize, insertSpaces, dryRun }: FormatRequest,
  { servers, ctx }: ServerRun,
): Promise<ToolOutputObject> {
  const settings = servers.required(path);
  const { edits, seen } = await servers.use(settings, ctx, async (server) => {
    requireCapability(server, 'documentFormattingProvider', 'formatting');
    const { uri, text } = await server.show(path, ctx);
    const options = { tabSize, insertSpaces };
    const answer = await server.request('textDocument/formatting', { textDocument: { uri }, options }, ctx);
    return { edits: parseAnswer(TextEdits, answer, settings.name), seen: text };
  });
  const planned = edits.length === 0 ? [] : [plannedEdits(path, edits, settings.name, (text) => text === seen)];
  return changeFiles(planned, { dryRun, ctx });
}
