import type { JsonSchema, JsonValue } from '#contracts';
import { isObject, listOf, partAt } from './schema-parts.js';

/** Root of a schema as one object. */
export interface Folded {
  /** Argument → the schemas that it has in the parts. */
  readonly properties: ReadonlyMap<string, readonly JsonValue[]>;
  readonly required: ReadonlySet<string>;
  readonly unions: readonly Union[];
  /** No part allows arguments that it does not name. */
  readonly closed: boolean;
}

export interface Union {
  readonly exactlyOne: boolean;
  readonly branches: readonly Folded[];
}

const NOTHING: Folded = { properties: new Map(), required: new Set(), unions: [], closed: false };
const MAX_DEPTH = 32;
/** Different schemas of one argument. */
const MAX_SCHEMAS = 50;
/** Arguments that are taken over from parts, in all. Parts may share parts by references. */
const MAX_TAKEN = 20_000;

/**
 * Root with the arguments of all its parts: of a reference, `allOf`, `anyOf` and `oneOf`. Required is what every branch
 * requires. The schema of an argument at the root comes before those in branches.
 */
export function foldRoot(root: JsonSchema): Folded {
  return new Folding(root).of(root, 0);
}

class Folding {
  private readonly known = new Map<JsonSchema, Folded>();
  private left = MAX_TAKEN;

  constructor(private readonly root: JsonSchema) {}

  of(node: JsonValue | undefined, depth: number): Folded {
    if (!isObject(node) || depth > MAX_DEPTH) return NOTHING;
    const known = this.known.get(node);
    if (known !== undefined) return known;
    // Meets itself only in a loop of references, which adds nothing.
    this.known.set(node, NOTHING);
    const folded = this.fold(node, depth);
    this.known.set(node, folded);
    return folded;
  }

  private fold(node: JsonSchema, depth: number): Folded {
    const { $ref } = node;
    const properties = new Map<string, readonly JsonValue[]>();
    if (isObject(node['properties'])) for (const [name, schema] of Object.entries(node['properties'])) properties.set(name, [schema]);
    const required = new Set(listOf(node['required']).filter((name) => typeof name === 'string'));
    const all = [...(typeof $ref === 'string' ? [partAt(this.root, $ref)] : []), ...listOf(node['allOf'])];
    const parts = [...new Set(all)].map((part) => this.of(part, depth + 1));
    const unions = (['anyOf', 'oneOf'] as const).flatMap((key) => {
      const branches = [...new Set(listOf(node[key]))].filter((branch) => branch !== false);
      return branches.length === 0 ? [] : [{ exactlyOne: key === 'oneOf', branches: branches.map((branch) => this.of(branch, depth + 1)) }];
    });
    for (const part of parts) {
      this.take(part, properties, new Set(properties.keys()));
      for (const name of part.required) required.add(name);
    }
    const named = new Set(properties.keys());
    for (const { branches } of unions) {
      for (const branch of branches) this.take(branch, properties, named);
      const [first, ...others] = branches;
      for (const name of first?.required ?? []) if (others.every((branch) => branch.required.has(name))) required.add(name);
    }
    const { additionalProperties } = node;
    const closed =
      additionalProperties === undefined
        ? unions.some(({ branches }) => branches.every((branch) => branch.closed))
        : additionalProperties === false && !isObject(node['patternProperties']);
    return { properties, required, unions: [...unions, ...parts.flatMap((part) => part.unions)], closed };
  }

  /** Adds the arguments of a part, except for those that are named already. */
  private take(part: Folded, properties: Map<string, readonly JsonValue[]>, named: ReadonlySet<string>): void {
    for (const [name, schemas] of part.properties) {
      if (named.has(name)) continue;
      this.left -= schemas.length;
      if (this.left < 0) return;
      const present = properties.get(name) ?? [];
      if (present.length < MAX_SCHEMAS) properties.set(name, [...new Set([...present, ...schemas])]);
    }
  }
}
