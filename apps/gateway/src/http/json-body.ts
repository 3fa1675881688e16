import { LIMITS, ProblemError } from '#contracts';

/**
 * Parses a JSON text that came from outside. Refuses what is not JSON and keys that pollute prototypes when somebody
 * copies the object, `__proto__` anywhere and `constructor` that holds a `prototype` (`malformed_json`), nesting deeper
 * than 64 levels, and what no canonical form (RFC 8785) exists for: halves of characters and numbers beyond a double
 * (`invalid_request`). An empty text is no body: undefined.
 */
export function parseJsonBody(text: string): unknown {
  const value = parseJson(text);
  checkJson(value);
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

/** The other half. */
export function checkJson(value: unknown, depth = 1): void {
  if (typeof value === 'string') return checkText(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new ProblemError('invalid_request', 'The JSON holds a number that is too large: expected at most 1.7976931348623157e308');
  if (typeof value !== 'object' || value === null) return;
  if (depth > LIMITS.jsonDepth) {
    throw new ProblemError('invalid_request', `The JSON is nested too deeply: expected at most ${LIMITS.jsonDepth} levels`);
  }
  if (Array.isArray(value)) {
    for (const item of value) checkJson(item, depth + 1);
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
    checkJson(inner, depth + 1);
  }
}

function checkText(text: string): void {
  if (text.isWellFormed()) return;
  throw new ProblemError(
    'invalid_request',
    `The JSON holds half of a character: expected both halves of a surrogate pair such as \\ud83d\\ude00, in ${JSON.stringify(text.slice(0, 64))}`,
  );
}
