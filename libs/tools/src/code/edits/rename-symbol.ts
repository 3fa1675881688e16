import { relative } from 'node:path';
import { ToolError, type ToolOutputObject } from '#tool-sdk';
import { type PlaceRequest, type ServerRun, atPlace, requireCapability } from '../server/operations/place-request.js';
import { type AnswerEdit, WorkspaceEdit, fileWithin, parseAnswer } from '../server/server-answers.js';
import type { ShownDocument } from '../server/language-server.js';
import { stampOf } from '../server/workspace-snapshot.js';
import { changeFiles } from './change-files.js';
import { plannedEdits } from './text-edits.js';

const MOST_EDITS = 20_000;

/** Renames the symbol at a place in all files that use it. */
export async function renameSymbol(
  request: PlaceRequest & { readonly newName: string; readonly dryRun: boolean },
  run: ServerRun,
): Promise<ToolOutputObject> {
  const { newName, dryRun } = request;
  const { edits, name, document } = await atPlace(request, run, async ({ server, document: shown, params }) => {
    requireCapability(server, 'renameProvider', 'renaming');
    const answer = await server.request('textDocument/rename', { ...params, newName }, run.ctx);
    return { edits: parseAnswer(WorkspaceEdit, answer, server.settings.name), name: server.settings.name, document: shown };
  });
  const { root } = run.ctx.workspace;
  const total = edits.reduce((sum, { edits: more }) => sum + more.length, 0);
  if (total > MOST_EDITS)
    throw new ToolError('tool_failed', `The renaming has ${total} edits, more than ${MOST_EDITS}; no file was changed.`, {
      retryable: false,
    });
  const byPath = new Map<string, AnswerEdit[]>();
  for (const { uri, edits: more } of edits) {
    const path = fileWithin(root, uri);
    if (path === undefined)
      throw new ToolError('policy_denied', 'The renaming would change a file outside of the workspace; no file was changed.', {
        retryable: false,
      });
    const shown = relative(root, path);
    const known = byPath.get(shown);
    if (known === undefined) byPath.set(shown, [...more]);
    else known.push(...more);
  }
  const planned = [...byPath]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, it]) => plannedEdits(path, it, name, isAsSeen(path, document, root)));
  return changeFiles(planned, { dryRun, ctx: run.ctx });
}

/**
 * Checks that a file is unchanged: by its text for the requested file, which the server has; by time of change and size for
 * others.
 */
function isAsSeen(path: string, { path: asked, text: given, files }: ShownDocument, root: string): (text: string) => Promise<boolean> {
  return async (text) => {
    if (path === asked) return text === given;
    const known = files.get(path);
    if (known === undefined)
      throw new ToolError('tool_failed', `The renaming would change ${path}, which is not watched for changes; no file was changed.`, {
        retryable: false,
      });
    return (await stampOf(root, path)) === known;
  };
}
