import type { JsonSchema, JsonValue } from '#contracts';
import { isObject, partAt } from './schema-parts.js';

type Kind = 'one' | 'others' | 'many' | 'named' | 'properties' | 'dependencies' | 'items' | 'reference' | 'left out';

/** Keywords that are not copied as they are. `others`: allow others with a boolean, which every API reads. */
const KEYWORDS: readonly (readonly [Kind, readonly string[]])[] = [
  ['one', ['not', 'contains', 'propertyNames', 'if', 'then', 'else', 'contentSchema']],
  ['others', ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']],
  ['many', ['allOf', 'anyOf', 'oneOf']],
  ['named', ['patternProperties', 'dependentSchemas', '$defs', 'definitions']],
  ['properties', ['properties']],
  ['dependencies', ['dependencies']],
  ['items', ['items', 'additionalItems', 'prefixItems']],
  ['reference', ['$ref']],
  ['left out', ['$schema', '$id', '$anchor', '$comment', '__proto__']],
];
const KINDS: ReadonlyMap<string, Kind> = new Map(KEYWORDS.flatMap(([kind, keys]) => keys.map((key) => [key, kind] as const)));
const MAX_MOVED = 200;

/**
 * Copies of parts of a schema in the dialect that every model's API reads, 2020-12: no boolean in place of a schema, items for
 * each array, references only to parts of the copy. The source is not changed.
 */
export class ModelCopy {
  private readonly references: JsonSchema[] = [];

  constructor(private readonly source: JsonSchema) {}

  /** The schema itself where there is nothing to change. */
  of(schema: JsonValue): JsonSchema {
    if (schema === false) return { not: {} };
    if (!isObject(schema)) return {};
    const keys = Object.keys(schema);
    const isArray = isArraySchema(schema);
    if (!isArray && !keys.some((key) => KINDS.has(key))) return schema;
    const copy: JsonSchema = {};
    for (const key of keys) {
      const value = schema[key];
      const copied = value === undefined ? undefined : this.copied(key, value, schema);
      if (copied !== undefined) copy[key] = copied;
    }
    if (isArray || schema['items'] !== undefined) this.addItems(copy, schema);
    if (typeof copy['$ref'] === 'string') this.references.push(copy);
    return copy;
  }

  /** Moves into `$defs` what references lead to that is no longer at its place. Last step; in place, `root` is a copy. */
  mendReferences(root: JsonSchema): void {
    const moved = new Map<JsonValue, string>();
    const present = new Set<string>();
    const definitions = isObject(root['$defs']) ? root['$defs'] : {};
    // The list grows meanwhile.
    for (const node of this.references) {
      const { $ref } = node;
      if (typeof $ref !== 'string' || present.has($ref)) continue;
      if (partAt(root, $ref) !== undefined) {
        present.add($ref);
        continue;
      }
      const target = partAt(this.source, $ref);
      const known = target === undefined ? undefined : moved.get(target);
      if (known !== undefined) node['$ref'] = known;
      else if (isObject(target) && moved.size < MAX_MOVED) {
        const name = freeName(definitions, moved.size);
        node['$ref'] = `#/$defs/${name}`;
        moved.set(target, node['$ref']);
        definitions[name] = this.of(target);
        root['$defs'] = definitions;
      } else delete node['$ref'];
    }
  }

  private copied(key: string, value: JsonValue, { required }: JsonSchema): JsonValue | undefined {
    switch (KINDS.get(key)) {
      case undefined:
      case 'reference':
        return value;
      case 'one':
        return this.of(value);
      case 'others':
        return typeof value === 'boolean' ? value : this.of(value);
      case 'many':
        return Array.isArray(value) ? value.map((it) => this.of(it)) : undefined;
      case 'named':
        return isObject(value) ? mapped(value, (it) => this.of(it)) : undefined;
      case 'properties':
        return isObject(value) ? this.properties(value, Array.isArray(required) ? required : []) : undefined;
      case 'dependencies':
        return isObject(value) ? mapped(value, (it) => (Array.isArray(it) ? it : this.of(it))) : undefined;
      case 'items':
      case 'left out':
        return undefined;
    }
  }

  /** Members that may never be given are left out. */
  private properties(schemas: JsonSchema, required: readonly JsonValue[]): JsonSchema {
    const given = Object.entries(schemas).filter(([name, schema]) => schema !== false || required.includes(name));
    return Object.fromEntries(given.map(([name, schema]) => [name, this.of(schema)]));
  }

  /** Tuples of older drafts become those of 2020-12. */
  private addItems(copy: JsonSchema, { items, prefixItems, additionalItems, maxItems }: JsonSchema): void {
    const first = Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : [];
    const others = Array.isArray(items) ? additionalItems : items;
    if (first.length > 0) copy['prefixItems'] = first.map((it) => this.of(it));
    copy['items'] = others === undefined || others === false ? {} : this.of(others);
    if (others === false) copy['maxItems'] = Math.min(first.length, typeof maxItems === 'number' ? maxItems : Infinity);
  }
}

function isArraySchema({ type, prefixItems }: JsonSchema): boolean {
  return type === 'array' || (Array.isArray(type) && type.includes('array')) || Array.isArray(prefixItems);
}

function mapped(schemas: JsonSchema, by: (schema: JsonValue) => JsonValue): JsonSchema {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, by(schema)]));
}

function freeName(definitions: JsonSchema, from: number): string {
  let number = from + 1;
  while (Object.hasOwn(definitions, `part${number}`)) number += 1;
  return `part${number}`;
}
