import { LIMITS, ProblemError } from '#contracts';

/**
 * Parses a JSON text that came from outside. Refuses what is not JSON and keys that pollute prototypes when somebody
 * copies the object, `__proto__` anywhere and `constructor` that holds a `prototype` (`malformed_json`), and nesting
 * deeper than 64 levels (`invalid_request`). An empty text is no body: undefined.
 */
export function parseJsonBody(text: string): unknown {
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ProblemError(
      'malformed_json',
      `The body is not valid JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'cannot be parsed'}`,
    );
  }
  checkNesting(value, 1);
  return value;
}

function checkNesting(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > LIMITS.jsonDepth) {
    throw new ProblemError('invalid_request', `The JSON is nested too deeply: expected at most ${LIMITS.jsonDepth} levels`);
  }
  if (Array.isArray(value)) {
    for (const item of value) checkNesting(item, depth + 1);
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
    checkNesting(inner, depth + 1);
  }
}
