import { type FileChange, type Hunk, type HunkLine, invalid, MOST_FILES } from './file-change.js';
import { normalizePath } from './patch-names.js';
import { isFileHeaderAt, readBareHunk, readHunk } from './read-hunk.js';

const SECTION = /^\*\*\* (Add|Update|Delete) File: *(.+)$/;
const END = /^\*\*\* End Patch$/;

/** `*** Begin Patch` with its sections, with text around it. */
export function isCodexPatch(text: string): boolean {
  return /^\*\*\* (?:Add|Update|Delete) File:/m.test(text);
}

/** @throws ToolError */
export function readCodex(text: string): FileChange[] {
  const all = text.split('\n');
  const bare = all.map((line) => line.trimEnd());
  const first = bare.findIndex((line) => SECTION.test(line));
  const end = bare.findIndex((line, index) => index > first && END.test(line));
  if (end === -1) throw invalid('it has no line "*** End Patch" at its end: give the whole patch.');
  if (bare.slice(end).some((line) => SECTION.test(line))) throw invalid('a file follows "*** End Patch". Put all files into one patch.');
  const changes: FileChange[] = [];
  for (let at = first; at < end && changes.length <= MOST_FILES;) {
    const [, action, name = ''] = SECTION.exec(bare[at] ?? '') ?? [];
    if (action === undefined)
      throw invalid(
        `expected "*** Add File: path", "*** Update File: path" or "*** Delete File: path" in line ${at + 1}, got "${(bare[at] ?? '').slice(0, 60)}".`,
      );
    let next = at + 1;
    while (next < end && !SECTION.test(bare[next] ?? '')) next += 1;
    changes.push(changeOf({ lines: all.slice(0, next), bare, at: at + 1, path: normalizePath(name.trim()) }, action));
    at = next;
  }
  return changes;
}

interface Section {
  /** Lines from `at` to the end of the section. */
  readonly lines: readonly string[];
  readonly bare: readonly string[];
  readonly at: number;
  readonly path: string;
}

function changeOf(section: Section, action: string): FileChange {
  const { path, lines, bare, at } = section;
  if (action === 'Add') return { kind: 'create', path, hunks: [addedHunk(section)] };
  if (action === 'Delete') {
    const more = lines.findIndex((line, index) => index >= at && line.trim() !== '');
    if (more !== -1) throw invalid(`expected nothing below "*** Delete File: ${path}", got line ${more + 1}.`);
    return { kind: 'delete', path, hunks: [], whole: true };
  }
  const [, to] = /^\*\*\* Move to: *(.+)$/.exec(bare[at] ?? '') ?? [];
  const hunks = hunksOf(section, to === undefined ? at : at + 1);
  const target = normalizePath(to?.trim() ?? path);
  if (hunks.length === 0 && target === path) throw invalid(`it names ${path} in line ${at} and changes nothing of it.`);
  return target === path ? { kind: 'change', path, hunks } : { kind: 'rename', path: target, from: path, hunks };
}

function addedHunk({ lines, at, path }: Section): Hunk {
  let end = lines.length;
  while (end > at && lines[end - 1]?.trim() === '') end -= 1;
  const added = lines.slice(at, end).map((line, index): HunkLine => {
    if (!line.startsWith('+')) throw invalid(`expected line ${at + index + 1} to begin with "+", as all lines of a new file do (${path}).`);
    return { mark: '+', text: line.slice(1) };
  });
  return { title: `The content of ${path}`, lines: added, anchors: [], start: 0 };
}

/** `@@` lines one below the other narrow the place down. The first hunk may come without one. */
function hunksOf({ lines, bare, at: begin }: Section, from: number): Hunk[] {
  const hunks: Hunk[] = [];
  let first = from;
  while (bare[first] === '') first += 1;
  // A removed line may look like the first of a header, but no hunk begins behind it.
  if (isFileHeaderAt(lines, first) && bare[first + 2]?.startsWith('@@') === true) first += 2;
  let anchors: string[] = [];
  for (let at = first; at < lines.length;) {
    if (bare[at] === '' && lines.slice(at).every((line) => line.trim() === '')) break;
    const isHeader = bare[at]?.startsWith('@@') === true;
    if (!isHeader && at > first)
      throw invalid(`line ${at + 1} ("${(bare[at] ?? '').slice(0, 60)}") is no line of a hunk. Begin each with a space, "-" or "+".`);
    const read = (isHeader ? readHunk : readBareHunk)(lines, at, hunks.length + 1);
    const { next } = read;
    const atEnd = bare[next] === '*** End of File';
    if (read.hunk.lines.length === 0 && read.hunk.anchors.length === 0) throw invalid(`${read.hunk.title} of line ${begin} has no lines.`);
    anchors.push(...read.hunk.anchors);
    if (read.hunk.lines.length > 0) {
      hunks.push({ ...read.hunk, anchors, ...(atEnd && { atEnd }) });
      anchors = [];
    }
    at = atEnd ? next + 1 : next;
  }
  if (anchors.length > 0) throw invalid(`"@@ ${anchors.at(-1) ?? ''}" has no lines below it.`);
  return hunks;
}
