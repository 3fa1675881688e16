import { similarText } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { splitMark } from '../change/byte-order-mark.js';
import { countsOf, type Hunk, isAfter, isBefore } from './file-change.js';
import { type FileLine, placeOf } from './place-hunk.js';

/**
 * The text after the hunks of one file. Line ends that the patch does not have, a byte order mark and a missing line end at the
 * end stay as they are. Pure. @throws ToolError that says which hunk does not fit and what looks like it
 */
export function patchedText(text: string, given: readonly Hunk[], path: string, ctx: Pick<ToolContext, 'redact'>): string {
  const has = (mark: (line: string) => boolean): boolean => given.some(({ lines }) => lines.some((line) => mark(line.text)));
  const { mark, body } = has((line) => splitMark(line).mark !== '') ? { mark: '', body: text } : splitMark(text);
  const isConverted = isWindows(body) && !has((line) => line.endsWith('\r'));
  const patched = patchedBody(isConverted ? body.replaceAll('\r\n', '\n') : body, given, path, ctx);
  return mark + (isConverted ? patched.replaceAll('\n', '\r\n') : patched);
}

function patchedBody(body: string, given: readonly Hunk[], path: string, ctx: Pick<ToolContext, 'redact'>): string {
  const hunks = withoutReturns(body, given);
  const lines = linesOf(body);
  const first = applied(hunks, lines);
  const sorted = 'misfit' in first && hunks.every(({ start }) => start !== undefined) ? applied(inOrder(hunks), lines) : first;
  if (!('misfit' in sorted)) return joined(sorted.result, { lines, hunks, body, path });
  const { misfit: hunk, why } = 'misfit' in first ? first : sorted;
  throw misfit(hunk, why, { text: body, path }, ctx);
}

function inOrder(hunks: readonly Hunk[]): readonly Hunk[] {
  return hunks.toSorted((one, other) => (one.start ?? 0) - (other.start ?? 0));
}

type Applied = { readonly result: readonly FileLine[] } | { readonly misfit: Hunk; readonly why: string };

/** The lines after all hunks, or the first that has no place. Unchanged lines at the end of a hunk may be those of the next as well. */
function applied(hunks: readonly Hunk[], lines: readonly FileLine[]): Applied {
  const result: FileLine[] = [];
  let [done, from, moved] = [0, 0, 0];
  for (const hunk of hunks) {
    const place = placeOf(hunk, { lines, done, from, moved });
    if (typeof place !== 'number') return { misfit: hunk, why: place.why };
    for (const line of lines.slice(done, place)) result.push(line);
    const old = hunk.lines.filter(isBefore).length;
    done = place;
    for (const line of hunk.lines.slice(0, hunk.lines.findLastIndex(({ mark }) => mark !== ' ') + 1)) {
      const there = isBefore(line) ? lines[done++] : undefined;
      if (line.mark === ' ' && there !== undefined) result.push(there);
      else if (isAfter(line)) result.push({ text: line.text, end: line.unended === true ? 'none' : 'line' });
    }
    from = place + old;
    if (hunk.start !== undefined && old > 0) moved = place - (hunk.start - 1);
  }
  for (const line of lines.slice(done)) result.push(line);
  return { result };
}

interface Joining {
  readonly lines: readonly FileLine[];
  readonly hunks: readonly Hunk[];
  readonly body: string;
  readonly path: string;
}

function joined(result: readonly FileLine[], { lines, hunks, body, path }: Joining): string {
  const early = result.slice(0, -1).find(({ end }) => end === 'none');
  if (early !== undefined)
    throw new ToolError('tool_failed', `The patch ends ${path} without a line end, and lines follow there; no file was changed.`);
  const lineEnd = isWindows(body) ? '\r\n' : '\n';
  const says = hunks.some((hunk) => hunk.lines.some(({ unended }) => unended === true));
  const wasOpen = lines.at(-1)?.end === 'missing';
  return result
    .map(({ text, end }, index) => {
      const isOpen = index === result.length - 1 && wasOpen && !says;
      if (end === 'line') return isOpen ? text.replace(lineEnd === '\n' ? '' : /\r$/, '') : `${text}\n`;
      return index === result.length - 1 ? text : text + lineEnd;
    })
    .join('');
}

function linesOf(text: string): FileLine[] {
  const pieces = text === '' ? [] : text.split('\n');
  const isOpen = pieces.at(-1) !== '';
  if (!isOpen) pieces.pop();
  return pieces.map((piece, index) => ({ text: piece, end: isOpen && index === pieces.length - 1 ? 'missing' : 'line' }));
}

function isWindows(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}

/**
 * Hunks without carriage returns, for a patch that got Windows line ends in transit to a file without them. Unchanged for a
 * patch with both kinds, which changes line ends.
 */
function withoutReturns(text: string, hunks: readonly Hunk[]): readonly Hunk[] {
  const ended = hunks.flatMap(({ lines }) => lines.filter(({ unended }) => unended !== true));
  const isOfFile = text !== '' && !text.includes('\r\n') && ended.some(isBefore);
  if (!isOfFile || !ended.every((line) => line.text.endsWith('\r'))) return hunks;
  return hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map((line) => ({ ...line, text: line.text.replace(/\r$/, '') })) }));
}

interface Misfit {
  readonly text: string;
  readonly path: string;
}

function misfit(hunk: Hunk, why: string, { text, path }: Misfit, ctx: Pick<ToolContext, 'redact'>): ToolError {
  const counts = hunk.wrongCounts === undefined ? '' : ` Its header says ${hunk.wrongCounts}; it has ${countsOf(hunk.lines)}.`;
  const said = `${hunk.title} ${why} ${path}; no file was changed.${counts}`;
  if (why !== 'does not fit') return new ToolError('tool_failed', said);
  const old = hunk.lines.filter(isBefore).map((line) => line.text);
  return new ToolError('tool_failed', said + similarText(text, old.join('\n'), ctx, 'the patch'));
}
