import { countsOf, type Hunk, type HunkLine, invalid, isAfter, isBefore } from './file-change.js';

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?(?:\s*@@|$)/;
/**
 * End of a mail of `git format-patch`, followed by the version of git or nothing. Ambiguous: the same line may remove a line
 * with `-`.
 */
const SIGNATURE = /^-- ?$/;
const BEHIND_SIGNATURE = /^(?:\d+\.\d|\s*$)/;
/** Beginning of lines that are not part of a hunk. */
const NEXT_PART =
  /^(?:@@|diff |Index: |={10,}|\*\*\* |```|(?:old|new) mode \d|(?:new|deleted) file mode \d|(?:rename|copy) (?:from|to) |(?:dis)?similarity index |index [\da-f]+\.\.)/;

/** Begins a paragraph behind a hunk. */
const PROSE = /^[\p{L}\p{N}*#_("'`]/u;

export interface ReadHunk {
  readonly hunk: Hunk;
  /** The line behind it. */
  readonly next: number;
}

/**
 * The hunk that begins at a line with `@@`. The counts of its header say where it ends, unless its lines say otherwise: models
 * count wrong, or not at all. @throws ToolError
 */
export function readHunk(lines: readonly string[], at: number, number: number): ReadHunk {
  const header = (lines[at] ?? '').trimEnd();
  const [whole, start, before = '1', , after = '1'] = HEADER.exec(header) ?? [];
  const title = `Hunk ${number} (line ${whole === undefined ? `${at + 1} of the patch` : start})`;
  if (header.startsWith('@@@')) throw invalid(`${title} is of a merge (git diff --cc). Give the difference from one parent.`);
  if (whole === undefined) {
    const anchor = header.replace(/^@@\s?/, '').replace(/\s*@@$/, '');
    const anchors = /^(?:\.\.\.|-[\w,.]+ \+[\w,.]+)?$/.test(anchor.trim()) ? [] : [anchor];
    const read = readBody(lines, at + 1, { title });
    return { hunk: { title, lines: read.body, anchors, ...(read.body.length > 0 && { wrongCounts: 'no counts' }) }, next: read.next };
  }
  const counted = readCounted(lines, at + 1, Number(before), Number(after));
  const place = { title, anchors: [], start: Number(start) };
  if (counted !== undefined) return { hunk: { ...place, lines: counted.body }, next: counted.next };
  const { body, next } = readBody(lines, at + 1, { title, before: Number(before), after: Number(after) });
  return { hunk: { ...place, lines: body, wrongCounts: `${before} lines before and ${after} after` }, next };
}

/** A hunk without a header, whose first line is at `at`. @throws ToolError */
export function readBareHunk(lines: readonly string[], at: number, number: number): ReadHunk {
  const title = `Hunk ${number} (line ${at + 1} of the patch)`;
  const { body, next } = readBody(lines, at, { title });
  return { hunk: { title, lines: body, anchors: [], ...(body.length > 0 && { wrongCounts: 'no counts' }) }, next };
}

interface Body {
  readonly body: readonly HunkLine[];
  readonly next: number;
}

/** Undefined where the counts are wrong. */
function readCounted(lines: readonly string[], from: number, before: number, after: number): Body | undefined {
  const body: HunkLine[] = [];
  let [old, now, at] = [before, after, from];
  for (; old > 0 || now > 0; at += 1) {
    const line = lineOf(lines[at], at === lines.length - 1);
    if (line === undefined) return undefined;
    if (line === 'unended') {
      markUnended(body, lines[at]);
      continue;
    }
    body.push(line);
    if (isBefore(line)) old -= 1;
    if (isAfter(line)) now -= 1;
    if (old < 0 || now < 0) return undefined;
  }
  if (lines[at]?.startsWith('\\') === true) {
    markUnended(body, lines[at]);
    at += 1;
  }
  return /^[-+ ]/.test(lines[at] ?? '') && !isPartAt(lines, at) && lines[at]?.trim() !== '' ? undefined : { body, next: at };
}

/** A hunk with the counts of its header; without them it is not known where it ends. */
interface Stated {
  readonly title: string;
  readonly before?: number;
  readonly after?: number;
}

/** Body of a hunk, up to the first line of another form. @throws ToolError if a part would be lost */
function readBody(lines: readonly string[], from: number, stated: Stated): Body {
  const body: HunkLine[] = [];
  let at = from;
  for (; at < lines.length && !isPartAt(lines, at); at += 1) {
    const line = lineOf(lines[at], at === lines.length - 1);
    if (line === undefined) break;
    if (line === 'unended') markUnended(body, lines[at]);
    else body.push(line);
  }
  // Empty lines at the end separate the hunk from the following text.
  let end = at;
  while (end > from && lines[end - 1]?.trim() === '' && lines[end - 1]?.startsWith(' ') !== true) end -= 1;
  const kept = body.slice(0, body.length - (at - end));
  if (isCutAt(lines, at, { ...stated, kept, isApart: end < at }))
    throw invalid(
      `line ${at + 1} of it ("${(lines[at] ?? '').slice(0, 60)}") is no line of a hunk, but the hunk goes on there. ` +
        `Begin each line of a hunk with a space, "-" or "+". ${stated.title} has ${countsOf(kept)} until there.`,
    );
  return { body: kept, next: at };
}

/**
 * True if the line after a body is in the middle of a hunk: changed lines follow, or lines of the header's count are missing
 * and it is not prose.
 */
function isCutAt(
  lines: readonly string[],
  at: number,
  hunk: Stated & { readonly kept: readonly HunkLine[]; readonly isApart: boolean },
): boolean {
  const { before = Infinity, after = Infinity, kept, isApart } = hunk;
  let end = at;
  while (end < lines.length && !isPartAt(lines, end)) end += 1;
  const left = lines.slice(at, end);
  if (left.some((line) => /^[-+]/.test(line))) return true;
  const isShort = kept.filter(isBefore).length < before || kept.filter(isAfter).length < after;
  return isShort && left.some((line) => line.trim() !== '') && !(isApart && PROSE.test(left[0] ?? ''));
}

/** True at a paragraph of prose, which begins behind an empty line. */
export function isProseAt(lines: readonly string[], at: number): boolean {
  return lines[at - 1]?.trim() === '' && PROSE.test(lines[at] ?? '');
}

function isPartAt(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  return NEXT_PART.test(line) || isSignatureAt(lines, at) || isFileHeaderAt(lines, at);
}

export function isSignatureAt(lines: readonly string[], at: number): boolean {
  return SIGNATURE.test((lines[at] ?? '').trimEnd()) && BEHIND_SIGNATURE.test(lines[at + 1] ?? '');
}

/** A removed line may begin with `-- ` as well: a header has its second line. */
export function isFileHeaderAt(lines: readonly string[], at: number): boolean {
  return /^--- \S/.test(lines[at] ?? '') && /^\+\+\+ \S/.test(lines[at + 1] ?? '');
}

function lineOf(line: string | undefined, isLast: boolean): HunkLine | 'unended' | undefined {
  if (line === undefined || (line === '' && isLast)) return undefined;
  if (line === '' || line === '\r') return { mark: ' ', text: line };
  if (line.startsWith('\\')) return 'unended';
  const mark = line[0];
  return mark === ' ' || mark === '-' || mark === '+' ? { mark, text: line.slice(1) } : undefined;
}

/** Marks the last line as unended. In a patch with Windows line ends, removes its carriage return, which is not part of the file. */
function markUnended(body: HunkLine[], mark = ''): void {
  const last = body.pop();
  if (last !== undefined) body.push({ ...last, text: mark.endsWith('\r') ? last.text.replace(/\r$/, '') : last.text, unended: true });
}
