import { LIMITS, ProblemError } from '#contracts';

/**
 * Parses a JSON text that came from outside. Refuses what is not JSON and keys that pollute prototypes when somebody
 * copies the object, `__proto__` anywhere and `constructor` that holds a `prototype` (`malformed_json`), nesting deeper
 * than 64 levels, and what no canonical form (RFC 8785) exists for: halves of characters, numbers beyond a double, and
 * integers that a double would change (`invalid_request`). An empty text is no body: undefined.
 */
export function parseJsonBody(text: string): unknown {
  const value = parseJson(text);
  checkJson(value, text);
  return value;
}

/** Only the first half of `parseJsonBody`, for who has to look at the value before it is refused. */
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

/** The other half, with the text that the value was read from. */
export function checkJson(value: unknown, text: string): void {
  const seen: Seen = { largeIntegers: false };
  walk(value, 1, seen);
  if (seen.largeIntegers) checkIntegers(text);
}

/** What only the text can tell more about. */
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

/** An id of 64 bits that is sent as a number would come out as another one, and nobody would know. */
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

/** As text or as value: what a program wrote that has doubles itself comes out as it was. */
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
