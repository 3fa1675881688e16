import type { JsonSchema, JsonValue } from '#contracts';
import { fieldsOf, isFields, listOf, type Fields } from '../fields.js';
import { areDistinct, overlapping, type ComparisonBudget } from './distinct-branches.js';
import { mendDraft, mendRoot } from './drafts.js';
import { inexactSchemas } from './inexact.js';
import { ANNOTATIONS, CHECKS, FORMATS, isSchema, MANY, NAMED, ONE, patternFault, UNCHECKED } from './keywords.js';
import { loopingReferences } from './loops.js';
import { resolveReference, takeAnchors } from './references.js';

const SHOWN = 80;
const MAX_HOPS = 32;
const PROSE = new Set(['title', 'description', '$comment']);
/** Most members of parts that are compared in a schema. */
const MOST_MEMBERS = 50_000;
/** Refuse what a keyword that was left out would have allowed. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  properties: ['additionalProperties'],
  patternProperties: ['additionalProperties'],
  prefixItems: ['items', 'additionalItems'],
};

export interface CheckableSchema {
  readonly schema: JsonSchema;
  /** Parts that were left out: the other side has to check them. */
  readonly left: readonly string[];
}

export interface CheckableOptions {
  /** Members with a default may be absent although they are required: schemas of values after parsing require them. */
  readonly fillsDefaults?: boolean;
  /** Present if the other side decides which of several branches of `oneOf` is meant, and which texts a format allows. */
  readonly comparisons?: ComparisonBudget | undefined;
}

/**
 * Foreign schema of any draft in a form for our checker. Drops unreadable parts, and further parts that would become stricter
 * without them. A completely readable schema is returned unchanged. Never throws.
 */
export function checkableSchema(schema: JsonSchema, options: CheckableOptions = {}): CheckableSchema {
  return new Reading(structuredClone(schema), options).read();
}

/** Reads a copy in place: references lead to parts of it. */
class Reading {
  private readonly left: string[] = [];
  /** Visited schemas with their positions. */
  private readonly seen = new Map<JsonSchema, string>();
  /** Schemas that check less than their authors meant. */
  private readonly lossy = new Set<JsonSchema>();
  /** Schemas with a format that is not checked: as lossy as others for what is meant to fail. */
  private readonly vague = new Set<JsonSchema>();
  /** Schemas of whose `oneOf` no value fits two branches, whatever their formats allow. */
  private readonly distinct = new Set<JsonSchema>();
  /** Schemas that do not know all the members or items any more that they were meant to allow, with what would refuse these. */
  private readonly widened = new Map<JsonSchema, Set<string>>();
  private readonly open: (readonly [node: JsonSchema, pointer: string])[];
  private readonly anchors: ReadonlyMap<string, string>;
  private readonly lists: boolean;
  /** Members of parts that are still compared with those of the schema beside them. */
  private membersLeft = MOST_MEMBERS;

  constructor(
    private readonly root: JsonSchema,
    private readonly options: CheckableOptions,
  ) {
    this.anchors = takeAnchors(root);
    const { fault, itemsAreLists } = mendRoot(root);
    if (fault !== undefined) this.left.push(fault);
    this.lists = itemsAreLists;
    this.open = [[root, '']];
  }

  read(): CheckableSchema {
    // The list grows meanwhile. Taking out its first would move all others, each time.
    for (const [node, pointer] of this.open) {
      if (this.seen.has(node)) continue;
      this.seen.set(node, pointer);
      this.node(node, pointer);
    }
    for (const node of loopingReferences(this.seen.keys(), (it) => resolveReference(it, this.root, this.anchors)?.schema))
      this.drop(node, '$ref', this.seen.get(node) ?? '');
    if (this.options.comparisons !== undefined) this.overlaps(this.options.comparisons);
    const inexact = this.inexact(new Set([...this.lossy, ...this.vague]));
    for (const node of inexact) this.relax(node, (it) => isSchema(it) && typeof it !== 'boolean' && inexact.has(it));
    for (const node of this.inexact(this.lossy))
      for (const key of ['unevaluatedProperties', 'unevaluatedItems', ...(this.widened.get(node) ?? [])])
        if (node[key] !== true) delete node[key];
    return { schema: this.root, left: this.left };
  }

  /** Leaves overlapping branches to the other side. Skips unions with lossy branches, which `relax` turns into `anyOf`. */
  private overlaps(comparisons: ComparisonBudget): void {
    const unions = [...this.seen.keys()].filter((node) => Array.isArray(node['oneOf']));
    if (unions.length === 0) return;
    // Of a copy: the set grows below.
    const inexact = this.inexact(new Set(this.lossy));
    const refs = { resolve: (schema: unknown) => this.resolved(schema) };
    for (const node of unions) {
      const branches = listOf(node['oneOf']);
      const isExact = branches.every((it) => !isSchema(it) || typeof it === 'boolean' || !inexact.has(it));
      if (!isExact) continue;
      if (areDistinct(branches, refs, comparisons)) {
        this.distinct.add(node);
        continue;
      }
      overlapping(node);
      this.lossy.add(node);
      this.left.push(`${this.seen.get(node) ?? ''} has branches of oneOf that overlap; the server decides which one is meant`);
    }
  }

  private inexact(lossy: ReadonlySet<JsonSchema>): ReadonlySet<JsonSchema> {
    if (lossy.size === 0) return lossy;
    return inexactSchemas(this.seen.keys(), lossy, (it) => resolveReference(it, this.root, this.anchors)?.schema);
  }

  private node(node: JsonSchema, pointer: string): void {
    this.unchecked(node, pointer);
    mendDraft(node, { isRoot: node === this.root, itemsAreLists: this.lists });
    this.reference(node, pointer);
    this.required(node, pointer);
    this.impossible(node, pointer);
    if (this.options.fillsDefaults === true) this.defaults(node);
    for (const [key, value] of Object.entries(node)) {
      if (value === null && !['const', 'default'].includes(key)) {
        delete node[key];
        // YAML without quotes makes null of the name of the type.
        if (key === 'type') this.lossy.add(node);
      } else if (Object.hasOwn(ANNOTATIONS, key) && ANNOTATIONS[key]?.(value) !== true) this.drop(node, key, pointer, false);
      else if (Object.hasOwn(CHECKS, key) && CHECKS[key]?.(value) !== true) this.drop(node, key, pointer);
    }
    const { comparisons } = this.options;
    if (node['format'] !== undefined && (comparisons !== undefined || !FORMATS.has(node['format']))) this.vague.add(node);
    for (const key of ONE) this.one(node, key, pointer);
    for (const key of MANY) this.many(node, key, pointer);
    for (const key of NAMED) this.named(node, key, pointer);
    this.dependencies(node, pointer);
    nullable(node);
    this.closed(node, pointer);
  }

  /** Checks that a converter has left out already. */
  private unchecked(node: JsonSchema, pointer: string): void {
    const { [UNCHECKED]: reasons } = node;
    if (reasons === undefined) return;
    delete node[UNCHECKED];
    this.lossy.add(node);
    for (const reason of Array.isArray(reasons) ? reasons : [])
      if (typeof reason === 'string') this.left.push(`${shortened(pointer)} ${reason.slice(0, SHOWN)}`);
  }

  private required(node: JsonSchema, pointer: string): void {
    const { required } = node;
    if (!Array.isArray(required) || CHECKS['required']?.(required) === true) return;
    const names = [...new Set(required.filter((name) => typeof name === 'string'))];
    for (const name of required) if (typeof name !== 'string') this.say(`${pointer}/required`, name);
    node['required'] = names;
  }

  /** Required members that a closed schema does not have: no value would fit. */
  private impossible(node: JsonSchema, pointer: string): void {
    const { required, properties = {}, patternProperties, additionalProperties } = node;
    if (additionalProperties !== false || patternProperties !== undefined || !Array.isArray(required) || !isFields(properties)) return;
    const kept = required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name));
    if (kept.length === required.length) return;
    this.say(
      `${pointer}/required`,
      required.filter((name) => !kept.includes(name)),
      'the schema has no such member, and is closed',
    );
    node['required'] = kept;
    this.lossy.add(node);
  }

  /** A schema that is closed beside parts with members of their own would refuse each of these. */
  private closed(node: JsonSchema, pointer: string): void {
    const { properties = {}, patternProperties, additionalProperties } = node;
    if (additionalProperties !== false || patternProperties !== undefined || !isFields(properties)) return;
    const other = this.otherMember([node['allOf'], node['anyOf'], node['oneOf']].flat(), properties);
    if (other === undefined) return;
    this.say(`${pointer}/additionalProperties`, false, `its parts have the member ${other}`);
    delete node['additionalProperties'];
    this.lossy.add(node);
  }

  /** First member of a part that is not one of `properties`; also a member beyond those that are compared for one schema. */
  private otherMember(parts: readonly unknown[], properties: object): string | undefined {
    let left = this.membersLeft;
    for (const part of parts)
      for (const name of Object.keys(fieldsOf(fieldsOf(this.target(part))['properties'])))
        if ((left -= 1) < 0 || !Object.hasOwn(properties, name)) return name;
    this.membersLeft = left;
    return undefined;
  }

  private target(part: unknown): unknown {
    const { $ref } = fieldsOf(part);
    return typeof $ref === 'string' ? resolveReference($ref, this.root, this.anchors)?.schema : part;
  }

  /** The schema behind a reference; with checks beside the reference, both as parts. */
  private resolved(part: unknown): Fields {
    let schema = part;
    for (let hops = 0; hops < MAX_HOPS; hops += 1) {
      const { $ref, ...beside } = fieldsOf(schema);
      if (typeof $ref !== 'string') return beside;
      const target = this.target(schema);
      if (Object.keys(beside).some((key) => !PROSE.has(key))) return { allOf: [target, beside] };
      schema = target;
    }
    return {};
  }

  private defaults(node: JsonSchema): void {
    const { required, properties } = node;
    if (!Array.isArray(required) || !isFields(properties)) return;
    const isFilled = (name: unknown) => {
      const property = typeof name === 'string' && Object.hasOwn(properties, name) ? properties[name] : undefined;
      return isFields(property) && Object.hasOwn(property, 'default');
    };
    const kept = required.filter((name) => !isFilled(name));
    if (kept.length === required.length) return;
    node['required'] = kept;
    this.lossy.add(node);
  }

  private one(node: JsonSchema, key: string, pointer: string): void {
    const value = node[key];
    if (value === undefined) return;
    if (key === 'items' && Array.isArray(value) && this.lists && value.length > 0) this.listOf(node, key, value, pointer);
    else if (isSchema(value)) this.visit(value, `${pointer}/${key}`);
    else this.drop(node, key, pointer);
  }

  private many(node: JsonSchema, key: string, pointer: string): void {
    const value = node[key];
    if (value === undefined) return;
    if (Array.isArray(value) && value.length > 0) this.listOf(node, key, value, pointer);
    else this.drop(node, key, pointer);
  }

  private listOf(node: JsonSchema, key: string, list: JsonValue[], pointer: string): void {
    list.forEach((it, index) => {
      if (isSchema(it)) return this.visit(it, `${pointer}/${key}/${index}`);
      this.say(`${pointer}/${key}/${index}`, it);
      list[index] = this.anything(pointer);
    });
  }

  /** Replacement of a part that is not a schema: allows every value. */
  private anything(pointer: string): JsonSchema {
    const part: JsonSchema = {};
    this.seen.set(part, pointer);
    this.lossy.add(part);
    return part;
  }

  private named(node: JsonSchema, key: string, pointer: string): void {
    const schemas = node[key];
    if (schemas === undefined) return;
    // PHP writes an empty object as an empty list.
    if (Array.isArray(schemas) && schemas.length === 0) node[key] = {};
    else if (!isFields(schemas)) this.drop(node, key, pointer);
    else
      for (const [name, schema] of Object.entries(schemas)) {
        const fault = key === 'patternProperties' ? patternFault(name) : undefined;
        if (fault !== undefined) {
          this.say(`${pointer}/${key}`, name, fault);
          this.lossy.add(node);
          this.widen(node, key);
          Reflect.deleteProperty(schemas, name);
        } else if (isSchema(schema)) this.visit(schema, `${pointer}/${key}/${name}`);
        else {
          if (schema !== null) this.say(`${pointer}/${key}/${name}`, schema);
          Object.defineProperty(schemas, name, { value: this.anything(pointer), enumerable: true, configurable: true, writable: true });
        }
      }
  }

  private dependencies(node: JsonSchema, pointer: string): void {
    const { dependencies } = node;
    if (dependencies === undefined) return;
    if (!isFields(dependencies)) return this.drop(node, 'dependencies', pointer);
    for (const [name, it] of Object.entries(dependencies)) {
      if (isSchema(it)) this.visit(it, `${pointer}/dependencies/${name}`);
      else if (CHECKS['required']?.(it) !== true) return this.drop(node, 'dependencies', pointer);
    }
  }

  private reference(node: JsonSchema, pointer: string): void {
    const { $ref } = node;
    if ($ref === undefined || $ref === null) return;
    const found = typeof $ref === 'string' ? resolveReference($ref, this.root, this.anchors) : undefined;
    if (found === undefined) return this.drop(node, '$ref', pointer);
    if (found.reference !== $ref) node['$ref'] = found.reference;
    this.visit(found.schema, found.reference.slice(1));
  }

  private visit(schema: JsonSchema | boolean, pointer: string): void {
    if (typeof schema !== 'boolean') this.open.push([schema, shortened(pointer)]);
  }

  private drop(node: JsonSchema, key: string, pointer: string, checks = true): void {
    const why = key === 'pattern' && typeof node[key] === 'string' ? patternFault(node[key]) : undefined;
    this.say(`${pointer}/${key}`, node[key], why);
    delete node[key];
    this.widen(node, key);
    if (checks) this.lossy.add(node);
  }

  private widen(node: JsonSchema, key: string): void {
    const others = Object.hasOwn(OTHERS, key) ? OTHERS[key] : undefined;
    if (others === undefined) return;
    const widened = this.widened.get(node) ?? new Set();
    this.widened.set(node, widened);
    for (const other of others) widened.add(other);
  }

  private say(pointer: string, value: unknown, why?: string): void {
    const shown = JSON.stringify(value);
    const cut = shown.length > SHOWN ? `${shown.slice(0, SHOWN)}…` : shown;
    this.left.push(`${shortened(pointer)} cannot be read: ${cut}${why === undefined ? '' : ` (${why.slice(0, SHOWN)})`}`);
  }

  /** Keywords that are stricter the less their parts check. */
  private relax(node: JsonSchema, isInexact: (schema: unknown) => boolean): void {
    for (const [key, whole] of NEGATIONS) {
      if (!isInexact(node[key])) continue;
      for (const it of whole) delete node[it];
      this.lossy.add(node);
      this.left.push(`${shortened(this.seen.get(node) ?? '')}/${key} is left out, since a part of it cannot be read`);
    }
    const { oneOf, anyOf } = node;
    if (Array.isArray(oneOf) && oneOf.some(isInexact) && !this.distinct.has(node)) {
      delete node['oneOf'];
      if (anyOf === undefined) node['anyOf'] = oneOf;
    }
    if (isInexact(node['contains'])) delete node['maxContains'];
  }
}

/** Null as a type: for arguments that only the type allows to be null. */
function nullable(node: JsonSchema): void {
  const { nullable: isNullable, type, enum: values } = node;
  delete node['nullable'];
  if (isNullable !== true || type === undefined) return;
  node['type'] = [...new Set([type, 'null'].flat())];
  if (Array.isArray(values) && !values.includes(null)) node['enum'] = [...values, null];
}

const NEGATIONS = [
  ['not', ['not']],
  ['if', ['if', 'then', 'else']],
] as const;

const shortened = (pointer: string): string => pointer.slice(-2 * SHOWN);
