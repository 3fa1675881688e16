import type { JsonSchema } from '#contracts';
import { fieldsOf, isFields, listOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import { boundKeyword, namedNull, nullable, withoutReadOnly } from './schema-forms.js';
import { hasDiscriminator, type Subtypes } from './subtypes.js';
import { areDistinct, overlapping, type ComparisonBudget } from '../schemas/distinct-branches.js';
import { exclusiveLimits } from '../schemas/drafts.js';
import { ANNOTATIONS, CHECKS, isSchema, MANY, ONE, UNCHECKED } from '../schemas/keywords.js';
import { partsOf } from '../schemas/schema-parts.js';

/** References are written out while a schema has fewer parts and references within each other; beyond it they become `$defs`. */
const INLINE_PARTS = 400;
const INLINE_LEVELS = 8;
const MAX_PARTS = 20_000;
/** Most parts of the branches of a closed schema that are looked at. */
const MAX_BRANCH_PARTS = 2_000;
const MAX_DEPTH = 60;

/** References to definitions are written out. */
const NAMED = ['properties', 'patternProperties', 'dependentSchemas'];

/** Budget of schema parts for one document. */
export interface PartsBudget {
  left: number;
}

/** Context shared by all converters of one document. */
export interface SchemaContext {
  readonly refs: DocumentRefs;
  readonly subtypes: Subtypes;
  readonly budget: PartsBudget;
  readonly comparisons: ComparisonBudget;
  /** True from OpenAPI 3.1 on: keywords beside a reference count. */
  readonly hasSiblings: boolean;
}

/** Position of a schema. */
interface Place {
  /** References that lead to it, from the outermost on. */
  readonly within: readonly string[];
  readonly depth: number;
  /** True for a part of an `allOf`. */
  readonly isPart?: boolean;
  /** True if schemas beside this one have members of their own, which it must not reject. */
  readonly isOpen?: boolean;
}

const ROOT: Place = { within: [], depth: 0 };

/**
 * Converts schemas of OpenAPI 3.0 and 3.1 to JSON Schema 2020-12, for one tool. References are written out; circular ones and
 * those of large schemas become `$defs`. Drops keywords unknown to JSON Schema; leaves invalid values of keywords to
 * `checkableSchema`, which reports them.
 */
export class SchemaConverter {
  private readonly names = new Map<string, string>();
  private readonly waiting: (readonly [key: string, reference: string, isOpen: boolean])[] = [];
  private parts = 0;

  constructor(private readonly context: SchemaContext) {}

  /** @throws RangeError when the schema is larger or deeper than the limits */
  convert(schema: unknown): JsonSchema {
    const converted = this.schema(schema, ROOT);
    return typeof converted === 'boolean' ? {} : converted;
  }

  /** The definitions that the converted schemas refer to. To be called last. */
  definitions(): JsonSchema {
    const defs: JsonSchema = {};
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      const [key, reference, isOpen] = next;
      const place = { within: [reference], depth: 0 };
      defs[this.names.get(key) ?? ''] = isOpen
        ? this.schema(opened(this.context.refs.at(reference)), place)
        : this.withSubtypes(reference, place);
    }
    return defs;
  }

  private schema(value: unknown, place: Place): JsonSchema | boolean {
    this.count(place.depth);
    if (typeof value === 'boolean') return value;
    if (!isFields(value)) return {};
    const reference = value['$ref'];
    if (typeof reference === 'string') return this.referred(reference, value, place);
    const result = this.plain(value);
    const inner: Place = { within: place.within, depth: place.depth + 1 };
    for (const key of ONE) this.one(result, key, value[key], inner);
    for (const key of MANY) {
      const schemas = listOf(value[key]);
      const isOpen = key === 'allOf' && (schemas.length > 1 || isFields(value['properties']) || place.isOpen === true);
      if (Array.isArray(value[key]) && schemas.length === 0) result[UNCHECKED] ??= [];
      if (schemas.length > 0) result[key] = schemas.map((it) => this.branch(it, key, { ...inner, isOpen }));
      if (key === 'allOf' && schemas.length > 0 && result['additionalProperties'] === false) delete result['additionalProperties'];
    }
    for (const key of NAMED) if (isFields(value[key])) result[key] = this.named(value[key], inner);
    if (isFields(value['discriminator'])) overlapping(result);
    else if (result['oneOf'] !== undefined && !areDistinct(listOf(value['oneOf']), this.context.refs, this.context.comparisons)) {
      overlapping(result);
      result[UNCHECKED] = [...listed(result[UNCHECKED]), 'has branches of oneOf that overlap; the API decides which one is meant'];
    }
    if (result['additionalProperties'] === false && bringsMembers(value, this.context.refs)) delete result['additionalProperties'];
    if (place.isOpen === true && result['additionalProperties'] === false) delete result['additionalProperties'];
    exclusiveLimits(result);
    return nullable(withoutReadOnly(result, value, this.context.refs), value);
  }

  /** Keywords without schemas in them. */
  private plain(value: Fields): JsonSchema {
    const result: JsonSchema = {};
    const unchecked: string[] = [];
    for (const [key, content] of Object.entries(value)) {
      const isCheck = Object.hasOwn(CHECKS, key);
      if (content === undefined || !(isCheck || Object.hasOwn(ANNOTATIONS, key))) continue;
      const kept = boundKeyword(key, key === 'type' ? namedNull(content) : content);
      if (kept !== undefined) result[key] = kept;
      else if (isCheck) unchecked.push(`has a value of ${key} that is too large or no JSON`);
    }
    return unchecked.length === 0 ? result : { ...result, [UNCHECKED]: unchecked };
  }

  /** The first schemas of a list are written as a list of `items` in older drafts. */
  private one(result: JsonSchema, key: string, value: unknown, place: Place): void {
    if (key === 'items' && Array.isArray(value)) result[key] = value.map((it) => this.part(it, place));
    else if (value !== undefined && value !== null) result[key] = key === 'not' ? this.branch(value, key, place) : this.part(value, place);
  }

  /** Leaves what is no schema to `checkableSchema`, which reports it. */
  private part(value: unknown, place: Place): JsonSchema[string] {
    return isSchema(value) ? this.schema(value, place) : (boundKeyword('', value) ?? null);
  }

  private branch(schema: unknown, key: string, place: Place): JsonSchema[string] {
    // YAML without quotes makes null of the name of the type.
    const isNull = isFields(schema) && schema['type'] === null && ['anyOf', 'oneOf', 'not'].includes(key);
    return isNull && Object.keys(schema).length === 1 ? { type: 'null' } : this.part(schema, { ...place, isPart: key === 'allOf' });
  }

  private named(schemas: Fields, place: Place): JsonSchema {
    const entries = Object.entries(schemas).filter(([name]) => name !== '__proto__');
    return Object.fromEntries(entries.map(([name, schema]) => [name, this.part(schema, place)]));
  }

  private referred(reference: string, { $ref: _ref, ...beside }: Fields, place: Place): JsonSchema | boolean {
    const target = this.context.refs.at(reference);
    if (!isSchema(target)) return this.unread(beside, place);
    const expanded = this.expanded(reference, target, place);
    const description = beside['description'];
    const about: JsonSchema = typeof description === 'string' ? { description: description.slice(0, 2_000) } : {};
    const extra = this.context.hasSiblings && Object.keys(beside).some(isCheck) ? this.schema(beside, place) : undefined;
    const whole = extra === undefined ? expanded : { allOf: [expanded, extra] };
    return typeof whole === 'boolean' ? whole : nullable({ ...whole, ...about }, beside);
  }

  /** A reference that leads nowhere, which the document's references say. */
  private unread(beside: Fields, place: Place): JsonSchema {
    const rest = this.schema(beside, place);
    return { ...(typeof rest === 'boolean' ? {} : rest), [UNCHECKED]: [] };
  }

  private expanded(
    reference: string,
    target: Fields | boolean,
    { within, depth, isPart = false, isOpen = false }: Place,
  ): JsonSchema | boolean {
    const inner: Place = { within: [...within, reference], depth: depth + 1, isOpen };
    if (isPart && hasDiscriminator(target)) {
      const isCircle = within.filter((it) => it === reference).length > 1;
      return isCircle ? {} : this.schema(asBase(target, within), inner);
    }
    const isLarge = this.parts > INLINE_PARTS || within.length >= INLINE_LEVELS;
    const needsOpen = isOpen && isFields(target) && target['additionalProperties'] === false;
    const isNamed = isLarge || within.includes(reference) || this.names.has(keyOf(reference, needsOpen));
    if (isNamed) return { $ref: `#/$defs/${this.nameOf(reference, needsOpen)}` };
    return isPart ? this.schema(target, inner) : this.withSubtypes(reference, inner);
  }

  /** Schema of a reference, or, if it has a discriminator, one of the schemas that extend it. */
  private withSubtypes(reference: string, place: Place): JsonSchema | boolean {
    const target = this.context.refs.at(reference);
    const subtypes = this.context.subtypes.of(reference, target);
    const isOpen = subtypes.length === 0 && hasDiscriminator(target) && this.context.subtypes.has(reference);
    const base = this.schema(isOpen ? asBase(target, place.within) : target, place);
    if (subtypes.length === 0) return base;
    const branches = subtypes.map((it) => this.referred(it, {}, { ...place, depth: place.depth + 1 }));
    return { anyOf: [...branches, base] };
  }

  private nameOf(reference: string, isOpen: boolean): string {
    const key = keyOf(reference, isOpen);
    const known = this.names.get(key);
    if (known !== undefined) return known;
    const last = (reference.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);
    const taken = [...this.names.values()].includes(last) || last === '' || last.startsWith('__');
    const name = taken ? `schema_${this.names.size + 1}` : last;
    this.names.set(key, name);
    this.waiting.push([key, reference, isOpen]);
    return name;
  }

  private count(depth: number): void {
    this.parts += 1;
    this.context.budget.left -= 1;
    if (this.parts > MAX_PARTS || depth > MAX_DEPTH || this.context.budget.left < 0)
      throw new RangeError(`its schema is too large: expected at most ${MAX_PARTS} parts, ${MAX_DEPTH} levels deep`);
  }
}

/**
 * True for a schema whose branches have members that it has not itself: closed, it would refuse each of its branches. True as well
 * for branches of too many parts.
 */
function bringsMembers({ properties, oneOf, anyOf }: Fields, refs: DocumentRefs): boolean {
  const own = fieldsOf(properties);
  let left = MAX_BRANCH_PARTS;
  for (const branch of [...listOf(oneOf), ...listOf(anyOf)]) {
    const parts = partsOf(branch, ['allOf', 'oneOf', 'anyOf'], refs);
    left -= parts.length;
    if (left < 0 || parts.some((part) => Object.keys(fieldsOf(part['properties'])).some((name) => !Object.hasOwn(own, name)))) return true;
  }
  return false;
}

const listed = (value: JsonSchema[string] | undefined) => (Array.isArray(value) ? value : []);

const keyOf = (reference: string, isOpen: boolean): string => (isOpen ? `${reference} open` : reference);

function opened(schema: unknown): unknown {
  if (!isFields(schema)) return schema;
  const { additionalProperties: _closed, ...rest } = schema;
  return rest;
}

const isCheck = (key: string): boolean =>
  (Object.hasOwn(CHECKS, key) && key !== 'format') || ONE.includes(key) || MANY.includes(key) || NAMED.includes(key);

/** The base of a schema that extends it: without the list of branches that leads back, and open for the members that are added. */
function asBase({ oneOf, anyOf, additionalProperties, ...base }: Fields, within: readonly string[]): Fields {
  const leadsBack = (branches: unknown) => listOf(branches).some((it) => isFields(it) && within.includes(String(it['$ref'])));
  return {
    ...base,
    ...(oneOf === undefined || leadsBack(oneOf) ? {} : { oneOf }),
    ...(anyOf === undefined || leadsBack(anyOf) ? {} : { anyOf }),
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
  };
}
