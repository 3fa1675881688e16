import type { Span } from './ansi.js';
import type { Line, Lines } from './terminal-text.js';

/** A line that programs write about a failure. */
const ERROR = /\b(?:errors?|failed|failure|fatal|exception|traceback|panic(?:ked)?|assertion|not found|denied)\b|\berr!|✗|✖/i;
/** A summary that counts none. */
const NO_ERROR = /\b(?:0|no) (?:errors?|failures?|failed)\b/i;

/** Indices of the lines that contain the text, in any case. */
export function findLines(lines: Lines, text: string): number[] {
  if (text === '') return [];
  const wanted = text.toLowerCase();
  const found: number[] = [];
  for (let index = 0; index < lines.length; index += 1) if (lines.text(index).toLowerCase().includes(wanted)) found.push(index);
  return found;
}

/** The index of the first line about an error; undefined if there is none. */
export function firstError(lines: Lines): number | undefined {
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines.text(index);
    if (ERROR.test(text) && !NO_ERROR.test(text)) return index;
  }
  return undefined;
}

export interface FoundSpan extends Span {
  readonly found?: true;
}

/** The line cut where the text is in it, also where that goes over several colours. */
export function markFound(line: Line, text: string): readonly FoundSpan[] {
  if (text === '') return line;
  const hits = hitsIn(line.map((span) => span.text).join(''), text);
  if (hits.length === 0) return line;
  let at = 0;
  return line.flatMap((span) => {
    const [from, to] = [at, at + span.text.length];
    at = to;
    const edges = hits.flatMap((hit) => [hit.from, hit.to]).filter((edge) => edge > from && edge < to);
    return [from, ...edges].map((edge, index, all): FoundSpan => {
      const isFound = hits.some((hit) => edge >= hit.from && edge < hit.to);
      return { text: span.text.slice(edge - from, (all[index + 1] ?? to) - from), style: span.style, ...(isFound ? { found: true } : {}) };
    });
  });
}

/** None where the other case of a character has another length, since the places would be wrong. */
function hitsIn(whole: string, text: string): { readonly from: number; readonly to: number }[] {
  const [line, wanted] = [whole.toLowerCase(), text.toLowerCase()];
  const hits: { from: number; to: number }[] = [];
  if (line.length !== whole.length) return hits;
  for (let from = line.indexOf(wanted); from >= 0; from = line.indexOf(wanted, from + wanted.length))
    hits.push({ from, to: from + wanted.length });
  return hits;
}
