import { type FileChange, invalid, MOST_FILES } from './file-change.js';
import { namesOf, type Part } from './part-names.js';
import { gitNames, headerName } from './patch-names.js';
import { isFileHeaderAt, isProseAt, isSignatureAt, readBareHunk, readHunk } from './read-hunk.js';

const EXTENDED = /^(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to|index) (.*)$/;
const BINARY = /^(?:Binary files .* differ|GIT binary patch|Cannot display: file marked as a binary type\.)/;
/** Ends a file: text follows until the next one begins. */
const ENDS_FILE = /^(?:```\s*$|Property changes on: |From [\da-f]{40} |commit [\da-f]{7,})/;
const PROPERTIES = 'its other properties are left as they are';
/** Headers of Subversion, Mercurial and `diff -r`; `diff --git` has further header lines. */
const COMPARES = /^(?:diff -(?!-git )|Index: )/;

/**
 * The changes of a unified diff, whichever program or model wrote it, with text around it. `wanted` are the names that the
 * caller gave, which decide where the patch leaves two readings. @throws ToolError
 */
export function readUnified(text: string, wanted: ReadonlySet<string>): FileChange[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const parts: Part[] = [];
  let part: Part | undefined;
  let isApart = false;
  const begin = (at: number, compares = false): Part => {
    part = { line: at + 1, compares, said: new Map(), hunks: [] };
    if (parts.push(part) > MOST_FILES)
      throw invalid(`line ${at + 1} begins one more file than the ${MOST_FILES} that one patch may change.`);
    isApart = false;
    return part;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').replace(/\r$/, '');
    if (line.startsWith('diff --git ')) {
      // Subversion writes its own line above that of git.
      const of = part?.compares === true && part.git !== undefined && !hasBegun(part) ? part : begin(at);
      Object.assign(of, { isGit: true, git: gitNames(line.slice('diff --git '.length)) });
    } else if (COMPARES.test(line)) {
      const [, index] = /^Index: (.*)$/.exec(line) ?? [];
      if (index !== undefined) begin(at, true).git = [index, index];
      // CVS writes both for one file.
      else if (part?.compares !== true || part.git === undefined || hasBegun(part)) begin(at, true);
    } else if (isFileHeaderAt(lines, at) || isHalfHeaderAt(lines, at)) {
      const of: Part = part === undefined || hasBegun(part) ? begin(at) : part;
      const isWhole = isFileHeaderAt(lines, at);
      // Half of a header means both names.
      of.before = headerName(isWhole ? line.slice(4) : line.slice(4).replace(/^b\//, 'a/'));
      of.after = isWhole ? headerName((lines[at + 1] ?? '').replace(/\r$/, '').slice(4)) : headerName(line.slice(4).replace(/^a\//, 'b/'));
      if (isWhole) at += 1;
    } else if (line.startsWith('@@') || (!isApart && part?.after !== undefined && part.hunks.length === 0 && /^[-+ ]/.test(line))) {
      const of = part ?? begin(at);
      const [name, ...others] = wanted;
      if (of.after === undefined && of.git === undefined && name !== undefined && others.length === 0) of.git = [name, name];
      if (of.after === undefined && of.git === undefined)
        throw invalid(`line ${at + 1} begins a hunk, and no file was named. Begin each file with "--- a/path" and "+++ b/path".`);
      // Lines without a header above are a hunk without numbers.
      const read = (line.startsWith('@@') ? readHunk : readBareHunk)(lines, at, of.hunks.length + 1);
      of.hunks.push(read.hunk);
      at = read.next - 1;
      isApart = false;
    } else if (part !== undefined || BINARY.test(line)) {
      isApart ||= ENDS_FILE.test(line) || isSignatureAt(lines, at) || isProseAt(lines, at);
      if (!isApart && part !== undefined && part.hunks.length > 0 && /^[-+]/.test(line)) throw behindHunk(line, at);
      readAbout(line, at + 1, part ?? begin(at));
    }
  }
  return parts.map((it) => changeOf(it, wanted));
}

/** A changed line that no hunk has taken, after a line that ended one. */
function behindHunk(line: string, at: number): Error {
  return invalid(
    `line ${at + 1} of it ("${line.slice(0, 60)}") changes something and is in no hunk. Begin each line of a hunk with a space, "-" or "+".`,
  );
}

/** True at a single one of the two header lines, followed by a hunk. */
function isHalfHeaderAt(lines: readonly string[], at: number): boolean {
  return /^(?:---|\+\+\+) \S/.test(lines[at] ?? '') && (lines[at + 1] ?? '').startsWith('@@');
}

/** Possible reason why no file was found in a text. */
export function otherForm(text: string): string | undefined {
  if (text.includes('\u001b[')) return 'It has colour codes: write it without ("git diff --no-color").';
  if (/^\*{3} \d+(?:,\d+)? \*{4}$/m.test(text) || /^\d+(?:,\d+)?[acd]\d*(?:,\d+)?$/m.test(text))
    return 'It is a difference of another form: give a unified one ("diff -u").';
  return undefined;
}

function readAbout(line: string, at: number, part: Part): void {
  const [, key, value = ''] = (part.isGit === true && part.after === undefined ? EXTENDED.exec(line) : null) ?? [];
  if (key !== undefined) part.said.set(key, value);
  else if (BINARY.test(line)) part.binary = `line ${at}`;
  else if (line.startsWith('Property changes on: ')) part.note = PROPERTIES;
  else if (part.note !== undefined) readProperty(line, part);
}

/** The one property of Subversion that a file has outside of it. */
function readProperty(line: string, part: Part): void {
  const [, change] = /^(Added|Deleted): svn:executable$/.exec(line) ?? [];
  if (change !== undefined) part.said.set('new mode', change === 'Added' ? '100755' : '100644');
}

function hasBegun({ after, hunks, binary }: Part): boolean {
  return after !== undefined || hunks.length > 0 || binary !== undefined;
}

/** @throws ToolError for unsupported changes */
function changeOf(part: Part, wanted: ReadonlySet<string>): FileChange {
  const { said, hunks, note } = part;
  if (part.binary !== undefined)
    throw invalid(`it has a binary file (${part.binary}). Copy or write such files by other means; no file was changed.`);
  if (part.compares && part.isGit !== true && !hasBegun(part))
    throw invalid(
      `no unified difference follows line ${part.line}, as for an empty file: make or delete it by "diff --git" with "new file mode 100644", or by itself.`,
    );
  const named = namesOf(part, wanted);
  const mode = modeOf(part, named.path);
  if (said.has('old mode') && !said.has('new mode')) throw invalid(`it gives ${named.path} an "old mode" without a "new mode".`);
  const change = { ...named, hunks, ...(mode !== undefined && { executable: mode === '100755' }), ...(note !== undefined && { note }) };
  if (hunks.length === 0 && named.kind === 'change' && mode === undefined && note !== undefined)
    throw invalid(`it changes properties of ${named.path} (line ${part.line}), which are not part of the file. Leave that part out.`);
  if (hunks.length === 0 && named.kind === 'change' && mode === undefined)
    throw invalid(`it names ${named.path} in line ${part.line} and changes nothing of it.`);
  const before = said.get('old mode');
  return before !== undefined && before === said.get('new mode') ? { ...change, note: 'both modes are the same' } : change;
}

/** Mode of a created or changed file. @throws ToolError for links and other entries that are not files */
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
