import { LIMITS, parseExactJson, ProblemError } from '#contracts';

/**
 * Parses JSON from outside. Returns undefined for an empty text. A number that a double cannot hold exactly, such as a
 * 64-bit id, is a text of its digits; the schemas say who takes it. Not `secure-json-parse`: the walk below is needed for
 * depth and characters in any case, and checks the keys on its way.
 * @throws ProblemError `malformed_json` for what is not JSON, and for keys that pollute prototypes when the object is
 *   copied: `__proto__`, and `constructor` with a `prototype`; `invalid_request` for nesting deeper than 64 levels and
 *   what has no canonical form (RFC 8785): lone surrogates
 */
export function parseJsonBody(text: string): unknown {
  const value = parseJson(text);
  checkJson(value);
  return value;
}

/** The first half of `parseJsonBody`, for a caller that needs the value even when `checkJson` refuses it. */
export function parseJson(text: string): unknown {
  if (text === '' || text === '\ufeff') return undefined;
  try {
    return parseExactJson(text);
  } catch (error) {
    throw new ProblemError(
      'malformed_json',
      `The body is not valid JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'cannot be parsed'}`,
    );
  }
}

/** The second half of `parseJsonBody`. */
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
