import type { Stats } from 'node:fs';
import { decodeText, openBeneath, readWorkspaceFile, resolveFile, type ResolvedFile } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { splitMark } from '../change/byte-order-mark.js';
import type { FileChange } from './file-change.js';
import { patchedText } from './patched-text.js';

export const PATCH_LIMIT = { bytes: 2 * 1_048_576, hint: 'Use file_edit for larger files.' };

/** A file as it is, and where. */
export interface FoundFile {
  readonly place: ResolvedFile;
  readonly bytes: Buffer;
  readonly text: string;
  readonly stats: Stats;
}

/** Change with its source and its result. */
export interface PlannedChange {
  readonly change: FileChange;
  /** Place of the file after the change, or of the deleted file. */
  readonly place: ResolvedFile;
  /** Existing file, absent for a new one; for a renamed or copied file its source. */
  readonly found?: FoundFile;
  readonly after: string;
}

/**
 * Plans the change from the current file without writing. Rejects with a ToolError if the change does not fit.
 * @param gone paths that other changes of the patch leave free
 */
export async function planChange(change: FileChange, ctx: ToolContext, gone: ReadonlySet<string>): Promise<PlannedChange> {
  const { kind, path, from = path, hunks, later = [] } = change;
  const patched = (text: string, of: string): string => [hunks, ...later].reduce((before, it) => patchedText(before, it, of, ctx), text);
  const place = resolveFile(ctx.workspace, path, 'write');
  if (!gone.has(path)) await assertFree(place, change);
  if (kind === 'create') return { change, place, after: patched('', path) };
  const source = resolveFile(ctx.workspace, from, kind === 'copy' ? 'read' : 'write');
  const found = await findFile(source, change, ctx);
  if (found === undefined) return { change: { ...change, kind: 'create' }, place, after: patched('', path) };
  const after = change.whole === true ? '' : patched(found.text, from);
  if (kind === 'delete' && splitMark(after).body !== '') {
    const more = hunks.length === 0 ? 'is not empty, and the patch has no lines of it' : 'has more in it than the patch says';
    throw new ToolError('tool_failed', `The patch deletes ${path}, which ${more}; no file was changed.`);
  }
  if (kind === 'change' && after === found.text && !changesMode(change, found.stats)) {
    const why = hunks.length === 0 ? 'has that mode already' : 'stays as it is by it';
    throw new ToolError('tool_failed', `The patch changes nothing: ${path} ${why}; no file was changed.`);
  }
  return { change, place, found, after };
}

export function changesMode({ executable }: FileChange, { mode }: Stats): boolean {
  return executable !== undefined && executable !== ((mode & 0o100) !== 0);
}

/** Undefined for a missing file that is empty in the patch. */
async function findFile(place: ResolvedFile, { kind, hunks }: FileChange, ctx: ToolContext): Promise<FoundFile | undefined> {
  const isFilled = kind === 'change' && hunks.length === 1 && hunks[0]?.start === 0;
  if (isFilled && !(await isThere(place))) return undefined;
  const { bytes, stats } = await readWorkspaceFile(place, PATCH_LIMIT, ctx.signal);
  return { place, bytes, stats, text: decodeText(bytes, place.path.displayPath) };
}

/** @throws ToolError */
async function assertFree(place: ResolvedFile, { kind, path }: FileChange): Promise<void> {
  if (kind !== 'change' && kind !== 'delete' && (await isThere(place))) throw thereAlready(path);
}

export function thereAlready(path: string): ToolError {
  return new ToolError('tool_failed', `The patch creates ${path}, which is there already.`);
}

/** False as well where it cannot be opened: then writing fails. */
async function isThere(place: ResolvedFile): Promise<boolean> {
  try {
    await (await openBeneath(place)).close();
    return true;
  } catch {
    return false;
  }
}
