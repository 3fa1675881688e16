import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import { similarText } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';

const MOST_FILES = 50;
const MOST_HUNKS = 500;

/** What a patch does to one file. */
export interface FilePatch {
  readonly path: string;
  readonly kind: 'change' | 'create' | 'delete';
  readonly patch: StructuredPatch;
}

/** @throws ToolError for what is no unified diff, or names files otherwise than `paths` does */
export function parseFilePatches(text: string, paths: readonly string[]): readonly FilePatch[] {
  const patches = parsed(text).map(filePatchOf);
  if (patches.length === 0 || patches.length > MOST_FILES)
    throw invalid(
      `expected the changes of 1 to ${MOST_FILES} files, got ${patches.length}. Begin each with "--- a/path" and "+++ b/path".`,
    );
  if (patches.reduce((sum, { patch }) => sum + patch.hunks.length, 0) > MOST_HUNKS) throw invalid(`it has more than ${MOST_HUNKS} hunks.`);
  const changed = patches.map(({ path }) => path);
  const double = changed.find((path, index) => changed.indexOf(path) !== index);
  if (double !== undefined) throw invalid(`it has ${double} twice.`);
  const named = new Set(paths.map(normalized));
  const unnamed = changed.filter((path) => !named.has(path));
  const idle = [...named].filter((path) => !changed.includes(path));
  if (unnamed.length > 0) throw invalid(`it changes ${unnamed.join(', ')}, which paths does not name.`);
  if (idle.length > 0) throw invalid(`paths names ${idle.join(', ')}, which it does not change.`);
  return patches;
}

/** The text after the patch. Pure. @throws ToolError that says which hunk does not fit, and what looks like it */
export function patchedText(text: string, { path, patch }: FilePatch, ctx: Pick<ToolContext, 'redact'>): string {
  const result = applyPatch(text, patch, { autoConvertLineEndings: true });
  if (result !== false) return result;
  const failing = patch.hunks.findIndex((_hunk, index) => applyPatch(text, { ...patch, hunks: patch.hunks.slice(0, index + 1) }) === false);
  const hunk = patch.hunks[failing] ?? patch.hunks[0];
  const wanted = (hunk?.lines ?? []).filter((line) => line.startsWith(' ') || line.startsWith('-')).map((line) => line.slice(1));
  const place = `Hunk ${Math.max(failing, 0) + 1} (line ${hunk?.oldStart ?? 1})`;
  const similar = similarText(text, wanted.join('\n'), ctx, 'context and removed lines');
  throw new ToolError('tool_failed', `${place} does not fit ${path}; no file was changed.${similar}`);
}

function parsed(text: string): StructuredPatch[] {
  try {
    return parsePatch(text).filter(
      ({ hunks, oldFileName, newFileName }) => hunks.length > 0 || oldFileName !== undefined || newFileName !== undefined,
    );
  } catch (error) {
    throw invalid(`${(error instanceof Error ? error.message : String(error)).slice(0, 300)}.`);
  }
}

function filePatchOf(patch: StructuredPatch): FilePatch {
  const [before, after] = [nameOf(patch.oldFileName, 'a/'), nameOf(patch.newFileName, 'b/')];
  if (before === undefined && after === undefined)
    throw invalid('a part of it names no file. Begin each with "--- a/path" and "+++ b/path".');
  if (before !== undefined && after !== undefined && before !== after)
    throw invalid(`it renames ${before} to ${after}, which is not supported: copy and delete the file.`);
  const kind = before === undefined ? 'create' : after === undefined ? 'delete' : 'change';
  return { path: after ?? before ?? '', kind, patch };
}

/** Undefined for no file. */
function nameOf(name: string | undefined, prefix: string): string | undefined {
  if (name === undefined || name === '' || name === '/dev/null') return undefined;
  return normalized(name.startsWith(prefix) ? name.slice(prefix.length) : name);
}

function normalized(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}

function invalid(why: string): ToolError {
  return new ToolError('invalid_arguments', `Invalid patch: ${why}`);
}
