import { charSet, runEnd } from './char-set.js';
import type { MatchResult } from './secret-match.js';

export const KEY_BEGIN = '-----BEGIN ';
const LABEL = /^-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/;
const PART_OF_LABEL = /^-{1,5}$|^-----[A-Z]{1,5}$|^-----BEGIN [A-Z0-9 ]*-{0,4}$/;
const LONGEST_LABEL = 64;
const LONGEST_KEY = 16_384;
/** Characters allowed between the lines, plain or within JSON. */
const BODY = charSet(/[A-Za-z0-9+/=\s\\:,-]/);
const LAST_LINE = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
const BODY_LINE = /[A-Za-z0-9+/=]{16,}/g;

/**
 * A private key in PEM form, from its first line to its last. Without a last line it is secret as far as its lines go:
 * the beginning of a key is one, too. Looked at from the start of `-----BEGIN `.
 */
export function privateKey(text: string, start: number, final: boolean): MatchResult {
  const window = text.slice(start, start + LONGEST_LABEL);
  const label = LABEL.exec(window)?.[0].length;
  if (label === undefined)
    return !final && PART_OF_LABEL.test(window) && start + window.length === text.length ? { partialFrom: start } : undefined;
  const from = start + label;
  const limit = nextLabel(text, from, Math.min(text.length, start + LONGEST_KEY));
  const end = runEnd(text, from, limit, BODY);
  const body = text.slice(from, end);
  const last = LAST_LINE.exec(body);
  if (last !== null) return { start, end: from + last.index + last[0].length };
  if (end === text.length && !final && end < start + LONGEST_KEY) return { partialFrom: start };
  const lastBodyLine = [...body.matchAll(BODY_LINE)].at(-1);
  return { start, end: lastBodyLine === undefined ? from : from + lastBodyLine.index + lastBodyLine[0].length };
}

/** Start of the next key. Limits the search to one key for each part of a text. */
function nextLabel(text: string, from: number, limit: number): number {
  for (let at = text.indexOf(KEY_BEGIN, from); at !== -1 && at < limit; at = text.indexOf(KEY_BEGIN, at + 1))
    if (LABEL.test(text.slice(at, at + LONGEST_LABEL))) return at;
  return limit;
}
