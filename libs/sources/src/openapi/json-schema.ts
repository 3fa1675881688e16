import { Json, type JsonSchema } from '#contracts';
import { fieldsOf, isFields, listOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import { exclusiveLimits } from '../schemas/drafts.js';
import { ANNOTATIONS, CHECKS, isSchema, MANY, ONE } from '../schemas/keywords.js';

/** References are written out while a schema has fewer parts and references within each other; beyond it they become `$defs`. */
const INLINE_PARTS = 400;
const INLINE_LEVELS = 8;
const MAX_PARTS = 20_000;
const MAX_DEPTH = 60;

/** References to definitions are written out. */
const NAMED = ['properties', 'patternProperties', 'dependentSchemas'];
const MAX_TEXT = 2_000;
const MAX_VALUE_CHARACTERS = 20_000;

/** What one document may cost altogether. */
export interface PartsBudget {
  left: number;
}

/**
 * Converts schemas of OpenAPI 3.0 and 3.1 to JSON Schema 2020-12, for one tool. References are written out; circular
 * ones and those of large schemas become `$defs`. What is no keyword of JSON Schema is left out; what is no valid value of
 * one is left to `checkableSchema`, which says so.
 */
export class SchemaConverter {
  private readonly names = new Map<string, string>();
  private readonly waiting: string[] = [];
  private parts = 0;

  constructor(
    private readonly refs: DocumentRefs,
    private readonly budget: PartsBudget,
  ) {}

  /** @throws RangeError when the schema is larger or deeper than the limits */
  convert(schema: unknown): JsonSchema {
    const converted = this.schema(schema, [], 0);
    return typeof converted === 'boolean' ? {} : converted;
  }

  /** The definitions that the converted schemas refer to. To be called last. */
  definitions(): JsonSchema {
    const defs: JsonSchema = {};
    for (let reference = this.waiting.shift(); reference !== undefined; reference = this.waiting.shift())
      defs[this.names.get(reference) ?? ''] = this.schema(this.refs.at(reference), [reference], 0);
    return defs;
  }

  private schema(value: unknown, within: readonly string[], depth: number): JsonSchema | boolean {
    this.count(depth);
    if (typeof value === 'boolean') return value;
    if (!isFields(value)) return {};
    const reference = value['$ref'];
    if (typeof reference === 'string') return this.referred(reference, value, within, depth);
    const result: JsonSchema = {};
    for (const [key, content] of Object.entries(value)) {
      const kept = Object.hasOwn(CHECKS, key) || Object.hasOwn(ANNOTATIONS, key) ? bounded(content) : undefined;
      if (kept !== undefined) result[key] = kept;
    }
    for (const key of ONE) if (isSchema(value[key])) result[key] = this.schema(value[key], within, depth + 1);
    for (const key of MANY) {
      const schemas = listOf(value[key]).filter(isSchema);
      if (schemas.length > 0) result[key] = schemas.map((it) => this.schema(it, within, depth + 1));
    }
    for (const key of NAMED) if (isFields(value[key])) result[key] = this.named(value[key], within, depth);
    if (isFields(value['discriminator'])) overlapping(result);
    exclusiveLimits(result);
    return nullable(withoutReadOnly(result, value, this.refs), value);
  }

  private named(schemas: Fields, within: readonly string[], depth: number): JsonSchema {
    const entries = Object.entries(schemas).filter(([name, schema]) => name !== '__proto__' && isSchema(schema));
    return Object.fromEntries(entries.map(([name, schema]) => [name, this.schema(schema, within, depth + 1)]));
  }

  private referred(reference: string, { description }: Fields, within: readonly string[], depth: number): JsonSchema | boolean {
    const target = this.refs.at(reference);
    if (!isSchema(target)) return {};
    const about: JsonSchema = typeof description === 'string' ? { description: description.slice(0, 2_000) } : {};
    const isLarge = this.parts > INLINE_PARTS || within.length >= INLINE_LEVELS;
    if (isLarge || within.includes(reference) || this.names.has(reference)) return { $ref: `#/$defs/${this.nameOf(reference)}`, ...about };
    const expanded = this.schema(target, [...within, reference], depth + 1);
    return typeof expanded === 'boolean' ? expanded : { ...expanded, ...about };
  }

  private nameOf(reference: string): string {
    const known = this.names.get(reference);
    if (known !== undefined) return known;
    const last = (reference.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);
    const taken = [...this.names.values()].includes(last) || last === '' || last.startsWith('__');
    const name = taken ? `schema_${this.names.size + 1}` : last;
    this.names.set(reference, name);
    this.waiting.push(reference);
    return name;
  }

  private count(depth: number): void {
    this.parts += 1;
    this.budget.left -= 1;
    if (this.parts > MAX_PARTS || depth > MAX_DEPTH || this.budget.left < 0)
      throw new RangeError(`its schema is too large: expected at most ${MAX_PARTS} parts, ${MAX_DEPTH} levels deep`);
  }
}

/** The discriminator tells which branch is meant, so that a value may fit several. */
function overlapping(result: JsonSchema): void {
  const branches = result['oneOf'];
  if (branches === undefined) return;
  delete result['oneOf'];
  if (result['anyOf'] === undefined) result['anyOf'] = branches;
  else result['allOf'] = [...(Array.isArray(result['allOf']) ? result['allOf'] : []), { anyOf: branches }];
}

/** Leaves out values that are no JSON or too large, and repeated values of lists. */
function bounded(value: unknown): JsonSchema[string] | undefined {
  if (typeof value === 'string') return value.slice(0, MAX_TEXT);
  const { data } = Json.safeParse(value);
  if (data === undefined || JSON.stringify(data).length > MAX_VALUE_CHARACTERS) return undefined;
  return Array.isArray(data) ? [...new Map(data.map((it) => [JSON.stringify(it), it])).values()] : data;
}

/** OpenAPI 3.0: `nullable: true`. */
function nullable(result: JsonSchema, from: Fields): JsonSchema {
  if (from['nullable'] !== true) return result;
  const { type } = result;
  if (typeof type !== 'string')
    return type === undefined && Object.keys(result).length > 0 ? { anyOf: [result, { type: 'null' }] } : result;
  const values = result['enum'];
  return {
    ...result,
    type: [type, 'null'],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}

/** Properties that only answers have. */
function withoutReadOnly(result: JsonSchema, from: Fields, refs: DocumentRefs): JsonSchema {
  const all = Object.entries(fieldsOf(from['properties']));
  const hidden = new Set(all.filter(([, schema]) => refs.resolve(schema)['readOnly'] === true).map(([name]) => name));
  if (hidden.size === 0) return result;
  const properties = Object.entries(fieldsOf(result['properties'])).filter(([name]) => !hidden.has(name));
  const required = listOf(result['required']).filter((name) => !hidden.has(String(name)));
  return { ...result, properties: Json.parse(Object.fromEntries(properties)), required: Json.parse(required) };
}
