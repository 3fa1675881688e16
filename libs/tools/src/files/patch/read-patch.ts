import { type FileChange, invalid, isBefore, MOST_FILES, vacatedBy } from './file-change.js';
import { normalizePath } from './patch-names.js';
import { isCodexPatch, readCodex } from './read-codex.js';
import { otherForm, readUnified } from './read-unified.js';

const MOST_HUNKS = 500;
const FORM = 'Begin each file with "--- a/path" and "+++ b/path", or write "*** Begin Patch" with "*** Update File: path".';

/** The changes of a patch in either form. `paths`: the files that the caller names. Pure. @throws ToolError */
export function readPatch(text: string, paths?: readonly string[]): readonly FileChange[] {
  const named = new Set(paths?.map(normalizePath));
  const bare = withoutIndent(text);
  const isCodex = isCodexPatch(bare);
  const parts = isCodex ? readCodex(bare) : readUnified(bare, named);
  if (parts.length === 0 || parts.length > MOST_FILES)
    throw invalid(`expected the changes of 1 to ${MOST_FILES} files, got ${parts.length}. ${otherForm(bare) ?? FORM}`);
  if (parts.reduce((sum, { hunks }) => sum + hunks.length, 0) > MOST_HUNKS) throw invalid(`it has more than ${MOST_HUNKS} hunks.`);
  for (const { hunks, path, kind } of parts)
    for (const { lines, title } of hunks) {
      if (kind === 'create' && lines.some(isBefore))
        throw invalid(`${title} makes the new file ${path}: begin all of its lines with "+", empty ones as well.`);
      if (lines.every(({ mark }) => mark === ' ') && !(lines.length === 0 && kind === 'create'))
        throw invalid(`${title} changes nothing of ${path}: it has no lines that begin with "-" or "+".`);
    }
  const changes = joined(parts.filter((part) => !isGoneByRename(part, parts)));
  assertOnce(changes, isCodex);
  if (paths !== undefined) assertNamed(changedPaths(changes), named);
  return changes;
}

/**
 * Each file is made or changed by one part at most, and removed by one. As for `git apply`, which reads all files before it
 * writes any, a part may make a file where another one has renamed it, in any order, or has deleted it above: names are exchanged
 * like this. Sections of a Codex patch follow one another, so that only a new file may take such a name.
 */
function assertOnce(changes: readonly FileChange[], isCodex: boolean): void {
  const made = changes.flatMap(({ kind, path }) => (kind === 'delete' ? [] : [path]));
  const gone = changes.map(vacatedBy);
  const isTwice = (all: readonly unknown[]) => (path: string | undefined, index: number) =>
    path !== undefined && all.indexOf(path) !== index;
  const twice = made.find(isTwice(made)) ?? gone.find(isTwice(gone));
  const clash = changes.find(({ kind, path }, index) => {
    const at = gone.indexOf(path);
    if (kind === 'delete' || at === -1) return false;
    const isAbove = at < index;
    if (isCodex) return kind !== 'create' || !isAbove;
    return kind === 'change' || (changes[at]?.kind === 'delete' && !isAbove);
  });
  const double = twice ?? clash?.path;
  if (double !== undefined) throw invalid(`it has ${double} twice, and not only with hunks. Give the second change as a patch of its own.`);
}

/** True for the deletion of a file that is renamed, which Subversion writes as well. */
function isGoneByRename({ kind, path }: FileChange, parts: readonly FileChange[]): boolean {
  return kind === 'delete' && parts.some((other) => other.kind === 'rename' && other.from === path);
}

/** Parts that only change the text of a file become one change with the part before for that file, as in a series of commits. */
function joined(parts: readonly FileChange[]): readonly FileChange[] {
  const changes: FileChange[] = [];
  for (const part of parts) {
    const at = changes.findIndex(({ path, kind }) => path === part.path && kind !== 'delete');
    const first = changes[at];
    if (first === undefined || part.kind !== 'change') changes.push(part);
    else
      changes[at] = {
        ...part,
        ...first,
        ...(part.executable !== undefined && { executable: part.executable }),
        later: [...(first.later ?? []), part.hunks],
      };
  }
  return changes;
}

/** A patch that is indented as a whole, as in a list of Markdown. */
function withoutIndent(text: string): string {
  const [, indent] = /^([ \t]+)(?:diff --git |Index: |--- \S|\*\*\* Begin Patch)/m.exec(text) ?? [];
  const isPlain = /^(?:diff --git |Index: |--- \S|\+\+\+ \S|@@|\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File: ))/m.test(text);
  if (indent === undefined || isPlain) return text;
  const rows = text.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  return rows.join('\n');
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
