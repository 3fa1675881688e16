import { cutToBytes } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import type { FullFileForm } from './file-form.js';

export interface LinesRequest {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly line_numbers?: boolean | undefined;
  readonly cut: FullFileForm['cut'];
}

export interface ShownText {
  readonly text: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The lines that are shown, as they are in the file. */
  readonly data: LinesData;
}

export interface LinesData {
  readonly content: string;
  readonly startLine: number;
  readonly numLines: number;
  readonly totalLines: number;
}

/** Whole text, or the requested lines that fit, below a header with their numbers. */
export function showText(text: string, path: string, request: LinesRequest, ctx: Pick<ToolContext, 'redact'>): ShownText {
  const { offset, limit, line_numbers = false, cut } = request;
  const isCut = cut !== undefined && Buffer.byteLength(text) > cut.bytes;
  if (offset === undefined && limit === undefined && !isCut && !line_numbers) {
    const totalLines = linesOf(text).length;
    return { text, details: { path, totalLines }, data: { content: text, startLine: 1, numLines: totalLines, totalLines } };
  }
  return part({ text, path, offset: offset ?? 1, limit: limit ?? Infinity, line_numbers, cut }, ctx);
}

interface Part extends Required<Omit<LinesRequest, 'offset' | 'limit'>> {
  readonly text: string;
  readonly path: string;
  readonly offset: number;
  readonly limit: number;
}

function part({ text, path, offset, limit, line_numbers, cut }: Part, ctx: Pick<ToolContext, 'redact'>): ShownText {
  const lines = linesOf(text);
  if (offset > lines.length && !(offset === 1 && lines.length === 0)) {
    throw new ToolError('invalid_arguments', `offset ${offset} is past the end: ${path} has ${lines.length} lines.`);
  }
  const asked = lines.slice(offset - 1, offset - 1 + limit);
  const shown = cut === undefined ? asked : fitting(asked, cut.bytes);
  const last = offset - 1 + shown.length;
  const details = { path, startLine: offset, numLines: shown.length, totalLines: lines.length };
  const content = shown.join('');
  const data = { content, startLine: offset, numLines: shown.length, totalLines: lines.length };
  if (cut !== undefined && (shown.length < asked.length || Buffer.byteLength(content) > cut.bytes)) {
    // A line of its own may be longer than all that may come: then it is cut, and whether half a secret is left is asked.
    const kept = shown.length > 1 ? shown : [ctx.redact(cutToBytes(content, cut.bytes), true)];
    return { text: (line_numbers ? numbered(kept, offset) : kept.join('')) + cut.note(offset, last, lines.length), details, data };
  }
  const whole = shown.length === lines.length;
  if (line_numbers) {
    const header = whole ? `[${lines.length} lines]` : `[Lines ${offset}-${last} of ${lines.length}]`;
    return { text: [header, ...(shown.length === 0 ? [] : [numbered(shown, offset)])].join('\n'), details, data };
  }
  return { text: (whole ? '' : `[Lines ${offset}-${last} of ${lines.length}]\n`) + content, details, data };
}

function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(4)} | ${line.replace(/\r?\n$/, '')}`).join('\n');
}

/** The first lines that fit together, and one at least. */
function fitting(lines: readonly string[], bytes: number): string[] {
  let left = bytes;
  const over = lines.findIndex((line) => (left -= Buffer.byteLength(line)) < 0);
  return lines.slice(0, over === -1 ? undefined : Math.max(over, 1));
}

/** Lines with their line ends. A final line end starts no further line. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}
