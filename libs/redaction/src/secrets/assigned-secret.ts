import { charSet, hasCode, runEnd } from './char-set.js';
import { isSecretValue, schemeEnd } from './secret-value.js';
import type { SecretNames } from './secret-names.js';
import { LONGEST_RUN, type MatchResult } from './secret-match.js';

const [BACKSLASH, EQUALS, COLON, GREATER, BLANK, DASH] = [92, 61, 58, 62, 32, 45];
const NAME = charSet(/[A-Za-z0-9_.-]/);
const BEARER = 'bearer ';
const TOKEN = charSet(/[A-Za-z0-9._~+/=-]/);
const LONGEST_NAME = 64;
const LONGEST_GAP = 8;

const NOT_QUOTED = charSet(/[^\s,;&"'`<>(){}|\\]/, true);
/** `NAME=value` as shells and .env files have it: all of the word. */
const SHELL_WORD = charSet(/[^\s"'`]/, true);
/** The value of a header on its own line, or inside quotes. */
const LINE = charSet(/[^\r\n"'`\\]/, true);
const IN_QUOTES = charSet(/[^\r\n]/, true);

/** Most characters read before `=` or `:`. */
export const LOOK_BACK = LONGEST_NAME + 2 * LONGEST_GAP + 8;

/**
 * Looks at a `=` or `:` at `at`: is there the name of a secret before it, and is what follows one? Understands
 * `"name": "value"`, also in quotes that were escaped, `NAME=value`, `name: value`, `name = value` and `Header: all of it`.
 */
export function assignedSecret(text: string, at: number, final: boolean, names: SecretNames): MatchResult {
  const name = nameBefore(text, at, names);
  if (name === undefined) return undefined;
  const known = text.length;
  const operator = text.charCodeAt(at);
  if (at + 1 >= known) return final ? undefined : { partialFrom: at + 1 };
  const next = text.charCodeAt(at + 1);
  if (next === EQUALS || next === COLON || (next === GREATER && operator === EQUALS)) return undefined;
  return valueAfter(text, at, final, { ...name, header: operator === COLON && names.isHeader(name.name) });
}

/** `--name value`, looked at from the second dash. */
export function flagSecret(text: string, at: number, final: boolean, names: SecretNames): MatchResult {
  if (text.charCodeAt(at - 1) !== DASH || text.charCodeAt(at - 2) === DASH) return undefined;
  const from = at + 1;
  const end = runEnd(text, from, Math.min(text.length, from + LONGEST_NAME), NAME);
  if (end === text.length) return final ? undefined : { partialFrom: at - 1 };
  if (text.charCodeAt(end) !== BLANK || !names.has(text.slice(from, end))) return undefined;
  return valueAfter(text, end, final, { name: '', quoted: false, touching: true, header: false });
}

/** `Bearer value`, as it stands in headers of any name, looked at from the `B`. */
export function bearerSecret(text: string, at: number, final: boolean): MatchResult {
  const word = text.slice(at, at + BEARER.length);
  if (!BEARER.startsWith(word.toLowerCase())) return undefined;
  const from = at + BEARER.length;
  const end = runEnd(text, Math.min(from, text.length), Math.min(text.length, from + LONGEST_RUN), TOKEN);
  const atLimit = end === from + LONGEST_RUN;
  if (end === text.length && !final && !atLimit) return { partialFrom: at };
  const value = text.slice(from, end);
  if (value.length < 8 || !/[\d._~+/=-]/.test(value.slice(0, -1))) return undefined;
  return { start: from, end, tail: atLimit ? TOKEN : undefined };
}

interface NameFound {
  readonly name: string;
  readonly quoted: boolean;
  /** True if the operator directly follows the name. */
  readonly touching: boolean;
}

function nameBefore(text: string, at: number, names: SecretNames): NameFound | undefined {
  let end = at;
  if (text.charCodeAt(end - 1) === COLON) end -= 1;
  while (end > at - LONGEST_GAP && text.charCodeAt(end - 1) === BLANK) end -= 1;
  while (end > at - 2 * LONGEST_GAP && isClosing(text.charCodeAt(end - 1))) end -= 1;
  if (!names.mayEnd(text, end)) return undefined;
  const first = Math.max(0, end - LONGEST_NAME);
  let start = end;
  while (start > first && hasCode(NAME, text.charCodeAt(start - 1))) start -= 1;
  const name = text.slice(start, end);
  if (!names.has(name)) return undefined;
  const touching = end === at;
  return { name, quoted: !touching && isClosing(text.charCodeAt(end)), touching };
}

interface Assignment extends NameFound {
  readonly header: boolean;
}

function valueAfter(text: string, at: number, final: boolean, name: Assignment): MatchResult {
  const known = text.length;
  let from = at + 1;
  while (from < known && from - at <= LONGEST_GAP && isSpace(text.charCodeAt(from))) from += 1;
  const spaced = from > at + 1;
  const quoteAt = runOfBackslashes(text, from);
  if (quoteAt >= known && !final) return { partialFrom: at + 1 };
  const quoted = isQuote(text.charCodeAt(quoteAt));
  const start = quoted ? quoteAt + 1 : from;
  const limit = Math.min(known, start + LONGEST_RUN);

  const isFlag = text.charCodeAt(at) === BLANK;
  const tight = name.touching && !spaced && text.charCodeAt(at) === EQUALS;
  const shell = tight && /^[A-Z][A-Z0-9_]*$/.test(name.name);
  const set = quoted ? IN_QUOTES : name.header ? LINE : shell || isFlag ? SHELL_WORD : NOT_QUOTED;
  const end = quoted ? closingQuote(text, start, limit, text.slice(from, start)) : runEnd(text, start, limit, set);
  const atLimit = end === start + LONGEST_RUN;
  if (end >= known && !final && !atLimit) return { partialFrom: at + 1 };

  const value = text.slice(start, end);
  const schemeLength = name.header ? schemeEnd(value) : 0;
  const form = { header: name.header, quotedName: name.quoted, quoted, tight: tight || isFlag, next: atLimit ? '' : text.charAt(end) };
  if (!isSecretValue(value.slice(schemeLength), form)) return undefined;
  return { start: start + schemeLength, end, tail: atLimit ? (quoted ? LINE : set) : undefined };
}

/** End of a quoted text: before the same, possibly escaped, quotes, or at the end of the line. */
function closingQuote(text: string, from: number, limit: number, opening: string): number {
  const escaped = opening.length > 1;
  for (let at = from; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) return at;
    if (escaped ? code === BACKSLASH && at + opening.length <= limit && text.startsWith(opening, at) : text[at] === opening) return at;
    if (code === BACKSLASH && !escaped) at += 1;
    // A plain quote ends a text with escaped quotes.
    if (escaped && code !== BACKSLASH && text[at] === opening.at(-1)) return at;
  }
  return limit;
}

function runOfBackslashes(text: string, from: number): number {
  let at = from;
  while (at < text.length && at - from < 7 && text.charCodeAt(at) === BACKSLASH) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === BLANK || code === 9;
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96;
}

/** Quotes, their backslashes, and the bracket of `headers["x-api-key"]`. */
function isClosing(code: number): boolean {
  return isQuote(code) || code === BACKSLASH || code === 93;
}
