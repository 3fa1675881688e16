/** Fields with the message of an error, most specific first: RFC 9457, RFC 6749, JSON:API, and those of frameworks. */
const FIELDS = ['message', 'detail', 'error_description', 'error', 'title', 'msg', 'errors'];
const DEEPEST = 4;

/** The message of an error in JSON, such as `{"error":{"message":"no such pet"}}`; undefined if no field has one. */
export function errorMessage(value: unknown, depth = 0): string | undefined {
  if (depth > 0 && typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return errorMessage(value[0], depth + 1);
  for (const field of FIELDS) {
    const message: unknown = Object.hasOwn(value, field) ? errorMessage(Reflect.get(value, field), depth + 1) : undefined;
    if (typeof message === 'string') return message;
  }
  return undefined;
}

/** Message of an error in a JSON text; undefined for any other text. */
export function errorMessageIn(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return errorMessage(JSON.parse(text));
  } catch {
    return undefined;
  }
}
