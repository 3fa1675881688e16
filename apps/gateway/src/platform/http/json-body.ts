import { LIMITS, ProblemError } from '#contracts';

/**
 * Parses JSON from outside. Returns undefined for an empty text. Not `secure-json-parse`: the walk below is needed for
 * depth, characters and numbers in any case, and checks the keys on its way.
 * @throws ProblemError `malformed_json` for what is not JSON, and for keys that pollute prototypes when the object is
 *   copied: `__proto__`, and `constructor` with a `prototype`; `invalid_request` for nesting deeper than 64 levels and
 *   what has no canonical form (RFC 8785): lone surrogates, and numbers that a double cannot hold exactly
 */
export function parseJsonBody(text: string): unknown {
  const value = parseJson(text);
  checkJson(value, text);
  return value;
}

/** The first half of `parseJsonBody`, for a caller that needs the value even when `checkJson` refuses it. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProblemError(
      'malformed_json',
      `The body is not valid JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'cannot be parsed'}`,
    );
  }
}

/** The second half of `parseJsonBody`. `text`: what the value was parsed from. */
export function checkJson(value: unknown, text: string): void {
  const seen: Seen = { largeIntegers: false };
  walk(value, 1, seen);
  if (seen.largeIntegers) checkIntegers(text);
}

/** What has to be checked in the text afterwards. */
interface Seen {
  largeIntegers: boolean;
}

function walk(value: unknown, depth: number, seen: Seen): void {
  if (typeof value === 'string') return checkText(value);
  if (typeof value === 'number') return checkNumber(value, seen);
  if (typeof value !== 'object' || value === null) return;
  if (depth > LIMITS.jsonDepth) {
    throw new ProblemError('invalid_request', `The JSON is nested too deeply: expected at most ${LIMITS.jsonDepth} levels`);
  }
  if (Array.isArray(value)) {
    for (const item of value) walk(item, depth + 1, seen);
    return;
  }
  for (const key of Object.keys(value)) {
    const inner: unknown = Reflect.get(value, key);
    if (
      key === '__proto__' ||
      (key === 'constructor' && typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype'))
    ) {
      throw new ProblemError('malformed_json', `The JSON holds the key ${JSON.stringify(key)}, which is not allowed`);
    }
    checkText(key);
    walk(inner, depth + 1, seen);
  }
}

function checkNumber(value: number, seen: Seen): void {
  if (!Number.isFinite(value))
    throw new ProblemError('invalid_request', 'The JSON holds a number that is too large: expected at most 1.7976931348623157e308');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) seen.largeIntegers = true;
}

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/gs;
const NUMBER = /-?\d[\d.eE+-]*/g;

/** A 64-bit id sent as a number would silently become another id. */
function checkIntegers(text: string): void {
  for (const [number] of text.replace(STRING, '""').matchAll(NUMBER)) {
    if (!/^-?\d+$/.test(number) || isKept(number)) continue;
    const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number;
    throw new ProblemError(
      'invalid_request',
      `The JSON holds the integer ${shown}, which a JSON number cannot keep exactly: expected at most ${Number.MAX_SAFE_INTEGER}, or the integer as a string`,
    );
  }
}

/** True when the double has the same text or the same value: what a program with doubles wrote stays as it was. */
function isKept(integer: string): boolean {
  return String(Number(integer)) === integer || BigInt(Number(integer)) === BigInt(integer);
}

function checkText(text: string): void {
  if (text.isWellFormed()) return;
  throw new ProblemError(
    'invalid_request',
    `The JSON holds half of a character: expected both halves of a surrogate pair such as \\ud83d\\ude00, in ${JSON.stringify(text.slice(0, 64))}`,
  );
}
