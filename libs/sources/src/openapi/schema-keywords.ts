import { Json, type JsonSchema } from '#contracts';
import { compileExpression } from '#patterns';

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const MAX_TEXT = 2_000;
const MAX_VALUE_CHARACTERS = 20_000;

const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : undefined);
const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const count = (value: unknown) => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined);
const flag = (value: unknown) => (typeof value === 'boolean' ? value : undefined);
const json = (value: unknown) => {
  const parsed = Json.safeParse(value);
  return parsed.success && JSON.stringify(parsed.data).length <= MAX_VALUE_CHARACTERS ? parsed.data : undefined;
};
const list = (value: unknown) => {
  const found = Array.isArray(value) ? json(value) : undefined;
  return Array.isArray(found) && found.length > 0 ? [...new Map(found.map((it) => [JSON.stringify(it), it])).values()] : undefined;
};
const names = (value: unknown) =>
  Array.isArray(value) ? [...new Set(value.filter((it): it is string => typeof it === 'string'))] : undefined;

/** Keywords without schemas in them, with what of their value is kept. */
const KEYWORDS: Readonly<Record<string, (value: unknown) => JsonSchema[string] | undefined>> = {
  type: (value) => {
    const known = [value].flat().filter((it): it is string => typeof it === 'string' && TYPES.has(it));
    return known.length > 1 ? [...new Set(known)] : known[0];
  },
  enum: list,
  const: json,
  default: json,
  examples: list,
  title: text,
  description: text,
  format: text,
  pattern: (value) => (typeof value === 'string' && isPattern(value) ? value : undefined),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: (value) => (typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  uniqueItems: flag,
  deprecated: flag,
  required: names,
  contentEncoding: text,
  contentMediaType: text,
};

/** The value as JSON Schema 2020-12 has it; undefined when the keyword is another or its value is not valid. */
export function keywordOf(name: string, value: unknown): JsonSchema[string] | undefined {
  return Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name]?.(value) : undefined;
}

/** The API checks other patterns itself. */
function isPattern(source: string): boolean {
  try {
    compileExpression(source);
    return true;
  } catch {
    return false;
  }
}
