import { type FileChange, invalid, isBefore } from './file-change.js';
import { normalized } from './patch-names.js';
import { isCodexPatch, readCodex } from './read-codex.js';
import { readUnified } from './read-unified.js';

const MOST_FILES = 50;
const MOST_HUNKS = 500;
const FORM = 'Begin each file with "--- a/path" and "+++ b/path", or write "*** Begin Patch" with "*** Update File: path".';

/** The changes of a patch in either form. `paths`: the files that the caller names. Pure. @throws ToolError */
export function readPatch(text: string, paths?: readonly string[]): readonly FileChange[] {
  const named = new Set(paths?.map(normalized));
  const changes = isCodexPatch(text) ? readCodex(text) : readUnified(text, named);
  if (changes.length === 0 || changes.length > MOST_FILES)
    throw invalid(`expected the changes of 1 to ${MOST_FILES} files, got ${changes.length}. ${FORM}`);
  if (changes.reduce((sum, { hunks }) => sum + hunks.length, 0) > MOST_HUNKS) throw invalid(`it has more than ${MOST_HUNKS} hunks.`);
  for (const { hunks, path, kind } of changes)
    for (const { lines, title } of hunks) {
      if (kind === 'create' && lines.some(isBefore))
        throw invalid(`${title} makes the new file ${path}: begin all of its lines with "+", empty ones as well.`);
      if (lines.every(({ mark }) => mark === ' ') && !(lines.length === 0 && kind === 'create'))
        throw invalid(`${title} changes nothing of ${path}: it has no lines that begin with "-" or "+".`);
    }
  const written = changes.flatMap(({ kind, from, path }) => (kind === 'rename' && from !== undefined ? [from, path] : [path]));
  const double = written.find((path, index) => written.indexOf(path) !== index);
  if (double !== undefined) throw invalid(`it has ${double} twice. Put all hunks of a file below one header.`);
  if (paths !== undefined) assertNamed(changedPaths(changes), named);
  return changes;
}

/** Every file that is written, made, deleted, renamed or copied. */
export function changedPaths(changes: readonly FileChange[]): readonly string[] {
  return [...new Set(changes.flatMap(({ from, path }) => (from === undefined ? [path] : [from, path])))];
}

function assertNamed(touched: readonly string[], named: ReadonlySet<string>): void {
  const unnamed = touched.filter((path) => !named.has(path));
  const idle = [...named].filter((path) => !touched.includes(path));
  if (unnamed.length > 0) throw invalid(`it changes ${unnamed.join(', ')}, which paths does not name.`);
  if (idle.length > 0) throw invalid(`paths names ${idle.join(', ')}, which it does not change.`);
}
