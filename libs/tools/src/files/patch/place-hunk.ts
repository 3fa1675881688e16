import { type Hunk, isBefore } from './file-change.js';

/** Line without its line feed. `none`: it has none and must be the last; `missing`: the file ends without one. */
export interface FileLine {
  readonly text: string;
  readonly end: 'line' | 'missing' | 'none';
}

interface Around {
  readonly lines: readonly FileLine[];
  /** First line behind the changes of the previous hunk. */
  readonly done: number;
  /** The first line behind the hunk before. */
  readonly from: number;
  /** Distance of the previous hunk from the line of its header. */
  readonly moved: number;
}

const LISTED = 5;
const ABOVE = 'fits only above the hunk before it: give the hunks in the order of the lines in';

/**
 * The index of the line at which a hunk fits: where its header says, or where the hunk before was moved by as much; else at the
 * only place behind the hunk before, below its anchors where the file has them. Line numbers that models count wrong never choose between several places.
 */
export function placeOf(hunk: Hunk, around: Around): number | { readonly why: string } {
  const { lines, done, moved } = around;
  const before = hunk.lines.filter(isBefore);
  const fits = (at: number): boolean => at >= done && looksAt(at);
  const looksAt = (at: number): boolean =>
    at + before.length <= lines.length &&
    (hunk.atEnd !== true || at + before.length === lines.length) &&
    before.every(({ text, unended }, index) => {
      const line = lines[at + index];
      return line?.text === text && (unended !== true || line.end === 'missing');
    });
  if (before.length === 0) return insertionPlace(hunk, around);
  if (hunk.start !== undefined && hunk.wrongCounts === undefined)
    for (const at of [hunk.start - 1 + moved, hunk.start - 1]) if (fits(at)) return at;
  const anchored = behindAnchors(hunk.anchors, around, fits);
  const behind = anchored.length > 0 ? anchored : behindAnchors([], around, fits);
  const found = behind.length > 0 ? behind : behindAnchors([], { lines, from: done }, fits);
  const [only] = found;
  if (only === undefined) return { why: lines.some((_line, at) => looksAt(at)) ? ABOVE : 'does not fit' };
  if (found.length === 1) return only;
  const places = found.slice(0, LISTED).map((at) => at + 1);
  return {
    why: `fits ${found.length > LISTED ? 'many' : found.length} places (lines ${places.join(', ')}): add lines around it to tell which is meant in`,
  };
}

function insertionPlace({ start, wrongCounts, anchors, atEnd }: Hunk, around: Around): number | { readonly why: string } {
  const { lines, done, moved } = around;
  if (atEnd === true || lines.length === 0) return lines.length;
  const stated = (start ?? -1) + moved;
  if (start !== undefined && wrongCounts === undefined && stated >= done && stated <= lines.length) return stated;
  if (anchors.length > 0) {
    const found = behindAnchors(anchors, around, () => true);
    if (found.length === 1 && found[0] !== undefined) return found[0];
  }
  return { why: 'has no lines that tell its place: add lines around what it inserts, as they are in' };
}

/** First fitting row below each occurrence of the anchors; without anchors all fitting rows. */
function behindAnchors(
  anchors: readonly string[],
  { lines, from }: Pick<Around, 'lines' | 'from'>,
  fits: (at: number) => boolean,
): number[] {
  const fitting = Array.from({ length: lines.length - from + 1 }, (_item, index) => from + index).filter(fits);
  const [outer, ...inner] = anchors;
  if (outer === undefined) return fitting;
  const starts = inner.reduce((rows, anchor) => firstBehind(rows, rowsBelow(lines, anchor)), rowsBelow(lines, outer));
  return firstBehind(starts, fitting);
}

/** The lines below those that an anchor means: the same line, or with other spaces around it. */
function rowsBelow(lines: readonly FileLine[], anchor: string): number[] {
  const rows = lines.flatMap(({ text }, index) => (text.trim() === anchor.trim() ? [index + 1] : []));
  const exact = rows.filter((row) => lines[row - 1]?.text.trimEnd() === anchor.trimEnd());
  return exact.length > 0 ? exact : rows;
}

/** First candidate at or after each row. Both lists ascend, and so does the result. */
function firstBehind(rows: readonly number[], candidates: readonly number[]): number[] {
  const found = new Set<number>();
  let at = 0;
  for (const row of rows) {
    while (at < candidates.length && (candidates[at] ?? 0) < row) at += 1;
    const candidate = candidates[at];
    if (candidate !== undefined) found.add(candidate);
  }
  return [...found];
}
