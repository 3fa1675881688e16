import { Json, type JsonSchema } from '#contracts';
import { fieldsOf, type Fields } from '../fields.js';
import { UNCHECKED } from '../schemas/keywords.js';
import { partsOf } from '../schemas/schema-parts.js';
import type { DocumentRefs } from './document-refs.js';

const MAX_TEXT = 2_000;
const MAX_VALUE_CHARACTERS = 20_000;
const BRANCHED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'const'];
const PROSE = ['title', 'description', '$comment'];
const DISTINCT = ['enum', 'required', 'type'];
const ABOUT = ['title', 'description', 'default', 'deprecated'];

/** Leaves out values that are no JSON or too large, and repeated items of lists of names. Texts for readers are cut. */
export function boundKeyword(key: string, value: unknown): JsonSchema[string] | undefined {
  if (typeof value === 'string') return value.length <= MAX_TEXT || PROSE.includes(key) ? value.slice(0, MAX_TEXT) : undefined;
  const { data } = Json.safeParse(value);
  if (data === undefined || JSON.stringify(data).length > MAX_VALUE_CHARACTERS) return undefined;
  return Array.isArray(data) && DISTINCT.includes(key) ? [...new Map(data.map((it) => [JSON.stringify(it), it])).values()] : data;
}

/** YAML without quotes makes null of the name of the type. */
export function namedNull(type: unknown): unknown {
  return Array.isArray(type) ? type.map((it: unknown) => it ?? 'null') : type;
}

/** OpenAPI 3.0: `nullable: true`; Swagger 2.0: `x-nullable: true`. */
export function nullable(result: JsonSchema, from: Fields): JsonSchema {
  if ((from['nullable'] !== true && from['x-nullable'] !== true) || Object.keys(result).length === 0) return result;
  const { type, enum: values } = result;
  const isBranched = BRANCHED.some((key) => result[key] !== undefined);
  if (isBranched || type === undefined) {
    const about = Object.entries(result).filter(([key]) => ABOUT.includes(key));
    const checks = Object.entries(result).filter(([key]) => !ABOUT.includes(key));
    return { anyOf: [Object.fromEntries(checks), { type: 'null' }], ...Object.fromEntries(about) };
  }
  return {
    ...result,
    type: [...new Set([type, 'null'].flat())],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}

/** Removes properties that only answers have, and their names and those of its parts from the required ones. */
export function withoutReadOnly(result: JsonSchema, from: Fields, refs: DocumentRefs): JsonSchema {
  const own = new Set(readOnlyNames(from['properties'], refs));
  const all = new Set([...own, ...readOnlyNamesOfParts(from, refs)]);
  if (all.size === 0) return result;
  const kept = Object.entries(fieldsOf(result['properties'])).filter(([name]) => !own.has(name));
  const { allOf } = result;
  return {
    ...withoutRequired(result, all),
    ...(result['properties'] === undefined ? {} : { properties: Json.parse(Object.fromEntries(kept)) }),
    ...(Array.isArray(allOf) ? { allOf: allOf.map((part) => (isSchema(part) ? withoutRequired(part, all) : part)) } : {}),
  };
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);

function withoutRequired(schema: JsonSchema, names: ReadonlySet<string>): JsonSchema {
  const { required } = schema;
  if (!Array.isArray(required)) return schema;
  const kept = required.filter((name) => typeof name === 'string' && !names.has(name));
  return { ...schema, required: kept, ...(kept.length === required.length ? {} : { [UNCHECKED]: schema[UNCHECKED] ?? [] }) };
}

function readOnlyNamesOfParts({ allOf }: Fields, refs: DocumentRefs): string[] {
  const all = new Set(partsOf({ allOf }, ['allOf'], refs).map((part) => part['properties']));
  return [...all].flatMap((properties) => readOnlyNames(properties, refs));
}

function readOnlyNames(properties: unknown, refs: DocumentRefs): string[] {
  const all = Object.entries(fieldsOf(properties));
  return all.filter(([, property]) => refs.resolve(property)['readOnly'] === true).map(([name]) => name);
}
