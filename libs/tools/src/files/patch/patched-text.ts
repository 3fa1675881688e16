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
  const result: FileLine[] = [];
  let [from, moved] = [0, 0];
  for (const hunk of hunks) {
    const place = placeOf(hunk, { lines, from, moved });
    if (typeof place !== 'number') throw misfit(hunk, place.why, { text: body, path }, ctx);
    for (const line of lines.slice(from, place)) result.push(line);
    const kept = lines.slice(place);
    let at = 0;
    for (const line of hunk.lines) {
      const old = isBefore(line) ? kept[at++] : undefined;
      if (line.mark === ' ' && old !== undefined) result.push(old);
      else if (isAfter(line)) result.push({ text: line.text, end: line.unended === true ? 'none' : 'line' });
    }
    from = place + at;
    if (hunk.start !== undefined && at > 0) moved = place - (hunk.start - 1);
  }
  result.push(...lines.slice(from));
  return joined(result, { lines, hunks, body, path });
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
      if (end === 'line') return isOpen ? text.slice(0, lineEnd === '\n' ? undefined : -1) : `${text}\n`;
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

/** A patch that got Windows line ends on its way to a file without them. One that has both kinds changes line ends. */
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
