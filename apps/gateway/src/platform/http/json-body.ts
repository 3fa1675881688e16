import { hasLargerObject, hasMoreParts, LIMITS, parseExactJson, ProblemError } from '#contracts';

/** Size of a JSON body: UTF-8 bytes, and members and items at any depth. */
export interface BodySize {
  readonly bytes: number;
  readonly parts: number;
}

/**
 * Parses JSON from outside. Returns undefined for an empty text. A number that a double cannot hold exactly, such as a 64-bit
 * id, becomes a string of its digits; the schemas decide where that is valid. Not `secure-json-parse`: the walk below is needed
 * for depth and characters in any case, and also checks the keys.
 * @throws ProblemError `malformed_json` for malformed JSON, and for keys that pollute prototypes when the object is copied:
 * `__proto__`, and `constructor` with a `prototype`; `payload_too_large` for more than `mostParts` members and items, or
 * 25,000 members of one object, whose work would hold the process; `invalid_request` for nesting deeper than 64 levels and for
 * lone surrogates, which have no canonical form (RFC 8785)
 */
export function parseJsonBody(text: string, mostParts: number = LIMITS.jsonParts): unknown {
  const value = parseJson(text, mostParts);
  checkJson(value);
  return value;
}

/** Parses like `parseJsonBody`, without `checkJson`, for a caller that needs the value even if that rejects it. */
export function parseJson(text: string, mostParts: number = LIMITS.jsonParts): unknown {
  if (text === '' || text === '\ufeff') return undefined;
  if (hasMoreParts(text, mostParts))
    throw new ProblemError('payload_too_large', `The JSON has too many parts: expected at most ${mostParts} members and items in all`);
  if (mostParts > LIMITS.jsonParts && hasLargerObject(text, LIMITS.jsonParts))
    throw new ProblemError('payload_too_large', `The JSON has an object that is too large: expected at most ${LIMITS.jsonParts} members`);
  try {
    return parseExactJson(text);
  } catch (error) {
    throw new ProblemError(
      'malformed_json',
      `The body is not valid JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'cannot be parsed'}`,
    );
  }
}

/** Checks of `parseJsonBody` after the parsing. */
export function checkJson(value: unknown): void {
  walk(value, 1);
}

function walk(value: unknown, depth: number): void {
  if (typeof value === 'string') return checkText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth > LIMITS.jsonDepth) {
    throw new ProblemError('invalid_request', `The JSON is nested too deeply: expected at most ${LIMITS.jsonDepth} levels`);
  }
  if (Array.isArray(value)) {
    for (const item of value) walk(item, depth + 1);
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
    walk(inner, depth + 1);
  }
}

function checkText(text: string): void {
  if (text.isWellFormed()) return;
  throw new ProblemError(
    'invalid_request',
    `The JSON holds half of a character: expected both halves of a surrogate pair such as \\ud83d\\ude00, in ${JSON.stringify(text.slice(0, 64))}`,
  );
}
