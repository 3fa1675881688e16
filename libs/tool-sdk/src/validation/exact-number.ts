import { randomUUID } from 'node:crypto';
import { isExactNumberText, type JsonSchema, type JsonValue } from '#contracts';

/** No text of a caller can hold it. */
const MARK = `exact-number-${randomUUID()}:`;
const MAX_SCHEMAS = 1_000;

/** A number with more digits than a double holds, on its way to a writer of JSON. `JSON.stringify` alone writes a mark. */
export class ExactNumber {
  readonly digits: string;

  constructor(text: string) {
    this.digits = withoutExponent(text);
  }

  toJSON(): string {
    return `${MARK}${this.digits}`;
  }
}

/** Integers in their plain form, which all servers read: `7.25e17` is one in JSON, and none in a path or for many parsers. */
function withoutExponent(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e\+?(\d{1,2})$/i.exec(text) ?? [];
  const zeros = Number(exponent) - fraction.length;
  return zeros >= 0 && zeros < 40 ? sign + (whole + fraction + '0'.repeat(zeros)).replace(/^0+(?=\d)/, '') : text;
}

/** JSON text with the digits of all `ExactNumber`s. */
export function exactJsonText(value: unknown): string {
  return withExactNumbers(JSON.stringify(value));
}

/** Same as `exactJsonText`, for a JSON text that another program made of the value. */
export function withExactNumbers(json: string): string {
  const [before = '', ...marked] = json.split(`"${MARK}`);
  return before + marked.map((text) => text.replace('"', '')).join('');
}

/**
 * Replaces texts of digits where the schema requires a number: `parseExactJson` returns such texts for numbers that do not fit
 * a double, and models write 64-bit ids so. Keeps texts where the schema allows them. Shares unchanged parts.
 */
export function replaceNumberTexts(value: unknown, schema: JsonSchema, replace: (digits: string) => unknown): unknown {
  return replaced(value, [schema], { root: schema, replace });
}

interface Walk {
  readonly root: JsonSchema;
  readonly replace: (digits: string) => unknown;
}

/** `schemas`: all that apply to the value. */
function replaced(value: unknown, schemas: readonly unknown[], walk: Walk): unknown {
  if (typeof value === 'string') return isExactNumberText(value) && wantsNumber(expanded(schemas, walk.root)) ? walk.replace(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const all = expanded(schemas, walk.root);
  const inner = Object.entries(value).map(([key, item]): [string, unknown, unknown] => {
    const next = replaced(item, Array.isArray(value) ? itemSchemas(all, Number(key)) : fieldSchemas(all, key), walk);
    return [key, item, next];
  });
  if (inner.every(([, item, next]) => item === next)) return value;
  return Array.isArray(value) ? inner.map(([, , next]) => next) : Object.fromEntries(inner.map(([key, , next]) => [key, next]));
}

function wantsNumber(schemas: readonly JsonSchema[]): boolean {
  const types = schemas.flatMap(({ type }) => [type].flat());
  return (types.includes('integer') || types.includes('number')) && !types.includes('string');
}

function itemSchemas(schemas: readonly JsonSchema[], index: number): unknown[] {
  return schemas.flatMap(({ prefixItems, items }) => {
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    return [first[index] ?? (Array.isArray(items) ? undefined : items)];
  });
}

function fieldSchemas(schemas: readonly JsonSchema[], key: string): unknown[] {
  return schemas.map(({ properties, additionalProperties }) =>
    isSchema(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties,
  );
}

/** Schemas including referenced ones, branches of unions and parts of intersections. */
function expanded(schemas: readonly unknown[], root: JsonSchema): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const open = [...schemas];
  for (let schema = open.pop(); schema !== undefined || open.length > 0; schema = open.pop()) {
    if (!isSchema(schema) || found.has(schema) || found.size > MAX_SCHEMAS) continue;
    found.add(schema);
    const { $ref, allOf, anyOf, oneOf } = schema;
    if (typeof $ref === 'string') open.push(referred($ref, root));
    // Pushes one by one: foreign schemas may have more branches than a function accepts arguments.
    for (const branches of [allOf, anyOf, oneOf]) if (Array.isArray(branches)) for (const branch of branches) open.push(branch);
    open.push(schema['then'], schema['else']);
  }
  return [...found];
}

function referred(reference: string, root: JsonSchema): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined;
  let value: JsonValue | undefined = root;
  for (const word of reference.split('/').slice(1)) {
    const key = word.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Array.isArray(value) ? value[Number(key)] : value[key];
  }
  return value;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
