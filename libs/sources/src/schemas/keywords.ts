import { Json, type JsonSchema } from '#contracts';
import { compileExpression } from '#patterns';

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const MAX_PATTERNS = 10_000;

const text = (value: unknown): value is string => typeof value === 'string';
const isType = (value: unknown) => text(value) && TYPES.has(value);
const number = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const count = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const flag = (value: unknown) => typeof value === 'boolean';
const json = (value: unknown) => Json.safeParse(value).success;
const list = (value: unknown) => Array.isArray(value) && value.length > 0 && json(value);
const names = (value: unknown) => Array.isArray(value) && value.every(text) && new Set(value).size === value.length;
const map = (isValue: (value: unknown) => boolean) => (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isValue);

/** Keywords about values that check nothing. */
export const ANNOTATIONS: Readonly<Record<string, (value: unknown) => boolean>> = {
  title: text,
  description: text,
  default: json,
  examples: (value) => Array.isArray(value) && json(value),
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  contentEncoding: text,
  contentMediaType: text,
  $comment: text,
};

/** Checks without schemas in them, with the values that our checker reads. */
export const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => (Array.isArray(value) ? names(value) && value.length > 0 && value.every(isType) : isType(value)),
  enum: list,
  const: json,
  format: text,
  pattern: (value) => typeof value === 'string' && patternFault(value) === undefined,
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  minContains: count,
  maxContains: count,
  uniqueItems: flag,
  required: names,
  dependentRequired: map(names),
};

/**
 * Stands in a schema of which a converter has left out checks: a list of reasons in words, empty where they are said
 * elsewhere. `checkableSchema` takes it out.
 */
export const UNCHECKED = 'x-unchecked';

/** Formats that our checker checks. Any other allows all values. */
export const FORMATS: ReadonlySet<unknown> = new Set(
  'date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 regex uuid json-pointer json-pointer-uri-fragment relative-json-pointer byte int32 int64'.split(
    ' ',
  ),
);

/** Keywords with a schema, with a list of them, and with schemas by name. */
export const ONE = [
  'not',
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  'propertyNames',
  'if',
  'then',
  'else',
  'contentSchema',
];
export const MANY = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
export const NAMED = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];

export const isSchema = (value: unknown): value is JsonSchema | boolean =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

const faults = new Map<string, string | undefined>();

/** Why a pattern cannot be matched in linear time; undefined where it can. Sources are read every minute, with the same patterns. */
export function patternFault(pattern: string): string | undefined {
  if (!faults.has(pattern)) {
    if (faults.size >= MAX_PATTERNS) faults.clear();
    faults.set(pattern, faultOf(pattern));
  }
  return faults.get(pattern);
}

/** Nothing matches a literal of JavaScript or PHP as it stands: no text has a character before its beginning. */
const LITERAL = /^\/(?:\^.*|.*\$)\/[a-zA-Z]*$/s;

/**
 * Words of Python, Java and PCRE that mean themselves in JavaScript: escaped letters, counts without a beginning, common
 * parts of classes. An escaped backslash is passed over.
 */
const FOREIGN = /\\\\|\\\{|(\\[aeghijlmoqyCE-ORTUVXYZ]|\{,\d+\}|&&\[)/g;

function faultOf(pattern: string): string | undefined {
  if (LITERAL.test(pattern)) return 'it is written with slashes around it';
  const foreign = [...pattern.matchAll(FOREIGN)].map(([, word]) => word).find((word) => word !== undefined);
  if (foreign !== undefined) return `its ${foreign} is not of JavaScript`;
  try {
    compileExpression(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it is not valid';
  }
}
