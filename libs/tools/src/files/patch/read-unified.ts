import { type FileChange, type Hunk, invalid } from './file-change.js';
import {
  commonNames,
  gitNames,
  headerName,
  type HeaderName,
  nameBelowFolders,
  normalized,
  plainName,
  renamedNames,
  singleNames,
} from './patch-names.js';
import { isFileHeaderAt, readHunk } from './read-hunk.js';

/** Reading of the part of one file. */
interface Part {
  /** Where it begins, counted from 1. */
  readonly line: number;
  /** Written by a program that compares folders or files, which the names then begin with. */
  readonly compares: boolean;
  git?: readonly [string, string] | undefined;
  isGit?: true;
  before?: HeaderName;
  after?: HeaderName;
  /** Of `rename from`, `copy to` and so on. */
  readonly said: Map<string, string>;
  readonly hunks: Hunk[];
  /** Where it says so. */
  binary?: string;
  note?: string;
}

const RENAME = 'To rename a file, write "diff --git a/old b/new", "rename from old" and "rename to new" above its hunks.';
const EXTENDED = /^(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to|index) (.*)$/;
const BINARY = /^(?:Binary files .* differ|GIT binary patch|Cannot display: file marked as a binary type\.)/;
/** Of Subversion, Mercurial and `diff -r`; `diff --git` has more in it. */
const COMPARES = /^(?:diff -(?!-git )|Index: )/;

/**
 * The changes of a unified diff, whichever program or model wrote it, with text around it. `wanted` are the names that the
 * caller gave, which decide where the patch leaves two readings. @throws ToolError
 */
export function readUnified(text: string, wanted: ReadonlySet<string>): FileChange[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const parts: Part[] = [];
  let part: Part | undefined;
  const begin = (at: number, compares = false): Part => {
    part = { line: at + 1, compares, said: new Map(), hunks: [] };
    parts.push(part);
    return part;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').replace(/\r$/, '');
    if (line.startsWith('diff --git ')) {
      Object.assign(begin(at), { isGit: true, git: gitNames(line.slice('diff --git '.length)) });
    } else if (COMPARES.test(line)) {
      const [, index] = /^Index: (.*)$/.exec(line) ?? [];
      if (index !== undefined) begin(at, true).git = [index, index];
      // CVS writes both for one file.
      else if (part?.compares !== true || part.git === undefined || hasBegun(part)) begin(at, true);
    } else if (isFileHeaderAt(lines, at)) {
      const of: Part = part === undefined || hasBegun(part) ? begin(at) : part;
      of.before = headerName(line.slice(4));
      of.after = headerName((lines[at + 1] ?? '').replace(/\r$/, '').slice(4));
      at += 1;
    } else if (line.startsWith('@@')) {
      if (part?.after === undefined)
        throw invalid(`line ${at + 1} begins a hunk, and no file was named. Begin each file with "--- a/path" and "+++ b/path".`);
      const read = readHunk(lines, at, part.hunks.length + 1);
      part.hunks.push(read.hunk);
      at = read.next - 1;
    } else if (part !== undefined || BINARY.test(line)) readAbout(line, at + 1, part ?? begin(at));
  }
  return parts.map((it) => changeOf(it, wanted));
}

function hasBegun({ after, hunks, binary }: Part): boolean {
  return after !== undefined || hunks.length > 0 || binary !== undefined;
}

function readAbout(line: string, at: number, part: Part): void {
  const [, key, value = ''] = (part.isGit === true && part.after === undefined ? EXTENDED.exec(line) : null) ?? [];
  if (key !== undefined) part.said.set(key, value);
  else if (BINARY.test(line)) part.binary = `line ${at}`;
  else if (line.startsWith('Property changes on: ')) part.note = 'its properties are left as they are';
}

/** @throws ToolError for what is not applied */
function changeOf(part: Part, wanted: ReadonlySet<string>): FileChange {
  const { said, hunks, note } = part;
  if (part.binary !== undefined)
    throw invalid(`it has a binary file (${part.binary}). Copy or write such files by other means; no file was changed.`);
  if (part.compares && part.git === undefined && !hasBegun(part))
    throw invalid(
      `nothing follows line ${part.line}, as for an empty file: make or delete it by "diff --git" with "new file mode 100644", or by itself.`,
    );
  const named = namesOf(part, wanted);
  const mode = modeOf(part, named.path);
  if (said.has('old mode') && !said.has('new mode')) throw invalid(`it gives ${named.path} an "old mode" without a "new mode".`);
  const change = { ...named, hunks, ...(mode !== undefined && { executable: mode === '100755' }), ...(note !== undefined && { note }) };
  if (hunks.length === 0 && named.kind === 'change' && mode === undefined)
    throw invalid(`it names ${named.path} in line ${part.line} and changes nothing of it.`);
  const before = said.get('old mode');
  return before !== undefined && before === said.get('new mode') ? { ...change, note: 'both modes are the same' } : change;
}

/** Of a file that is made or changed. @throws ToolError for links and what else is no file */
function modeOf({ said }: Part, path: string): string | undefined {
  const blob = / (\d{6})$/.exec(said.get('index') ?? '')?.[1];
  const modes = ['old mode', 'new mode', 'new file mode', 'deleted file mode'].map((key) => said.get(key));
  for (const mode of [...modes, blob]) {
    if (mode === undefined || /^100[0-7]{3}$/.test(mode)) continue;
    const what = { '120000': 'a symbolic link', '160000': 'a submodule' }[mode] ?? 'no file';
    throw invalid(`${path} has the mode ${mode} in it: ${what}. Only files (100644 and 100755) are patched; no file was changed.`);
  }
  return (said.get('new file mode') ?? said.get('new mode'))?.replace(/^100[0-7]*[1357][0-7]*$/, '100755');
}

type Named = Pick<FileChange, 'kind' | 'path' | 'from'>;

function namesOf(part: Part, wanted: ReadonlySet<string>): Named {
  const { said } = part;
  for (const kind of ['rename', 'copy'] as const) {
    const [from, to] = [said.get(`${kind} from`), said.get(`${kind} to`)];
    if (from !== undefined && to !== undefined) return { kind, from: normalized(plainName(from)), path: normalized(plainName(to)) };
    if (from !== undefined || to !== undefined) throw invalid(`line ${part.line} begins a ${kind} with only one name.`);
  }
  const isNew = said.has('new file mode') || (part.before?.isNone ?? false);
  const isGone = said.has('deleted file mode') || (part.after?.isNone ?? false);
  const kind = isNew ? 'create' : isGone ? 'delete' : 'change';
  return { kind, path: chosen(candidates(part), part, wanted) };
}

/** Likeliest first. */
function candidates({ git, before, after, compares, line }: Part): readonly string[] {
  const byGit = git === undefined ? [] : commonNames(...git);
  if (before === undefined || after === undefined) return byGit;
  if (before.name === '/dev/null' || after.name === '/dev/null') {
    if (before.name === after.name) throw invalid(`line ${line} names no file.`);
    const single = singleNames(before.name === '/dev/null' ? after.name : before.name);
    return byGit.some((it) => single.includes(it)) ? byGit : single;
  }
  const common = commonNames(before.name, after.name);
  if (common.length > 0) return common;
  const below = nameBelowFolders(before.name, after.name);
  return below !== undefined && (compares || before.isNone || after.isNone) ? [below] : [];
}

function chosen(names: readonly string[], { git, before, after, line }: Part, wanted: ReadonlySet<string>): string {
  const known = [before, after].flatMap((it) => (it === undefined || it.name === '/dev/null' ? [] : [...singleNames(it.name)]));
  const below = before && after && nameBelowFolders(before.name, after.name);
  const renamed = before && after && names.length === 0 ? renamedNames(before.name, after.name) : undefined;
  if (renamed !== undefined) throw invalid(`it renames ${renamed[0]} to ${renamed[1]} in line ${line}. ${RENAME}`);
  const meant = [...names, ...known, ...(below === undefined ? [] : [below])].filter((it) => wanted.has(it));
  const [name] = meant.length > 0 ? meant : names;
  if (name !== undefined && name !== '') return name;
  const [old, now] = before && after ? [before.name, after.name] : (git ?? ['?', '?']);
  throw invalid(`line ${line} changes ${old} to ${now}: two files. Name the same file in both lines. ${RENAME}`);
}
