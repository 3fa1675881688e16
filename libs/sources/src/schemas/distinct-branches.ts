import type { JsonSchema } from '#contracts';
import { fieldsOf, isFields, listOf, type Fields } from '../fields.js';
import { partsOf, type SchemaRefs } from './schema-parts.js';

const MAX_BRANCHES = 40;
/** Most branches and members of one source that are compared; lists beyond it are left to the other side. */
const MAX_COMPARED = 200_000;
const MAX_DEPTH = 3;
/** Characters of a value that cost as much as a member. */
const CHARACTERS = 50;
const ABOUT = new Set(['required', 'title', 'description']);

/** Facts of a schema that tell its values from those of others. */
interface Branch {
  /** Undefined: any type. */
  readonly types: ReadonlySet<string> | undefined;
  /** JSON texts of the values of an enumeration; undefined: any value. */
  readonly values: ReadonlySet<string> | undefined;
  readonly required: ReadonlySet<string>;
  readonly properties: ReadonlyMap<string, unknown>;
  /** True if no members but those in `properties` are allowed. */
  readonly isClosed: boolean;
}

/** Lists of branches belong to one document. */
const results = new WeakMap<object, boolean>();

/** Branches, members and values of all schemas of one source that may still be compared. */
export interface ComparisonBudget {
  left: number;
}

export const comparisonBudget = (): ComparisonBudget => ({ left: MAX_COMPARED });

/**
 * True if no value fits two branches of a `oneOf`, as far as types, enumerations, required and forbidden members say; also if
 * each only lists required names, which is how documents say that one set of members excludes the others.
 */
export function areDistinct(branches: readonly unknown[], refs: SchemaRefs, budget: ComparisonBudget): boolean {
  const result = results.get(branches) ?? (isOnlyNames(branches) || new Comparison(refs, budget).areDistinct(branches));
  results.set(branches, result);
  return result;
}

/** Lets a value fit several branches, of which the other side picks one. */
export function overlapping(schema: JsonSchema): void {
  const branches = schema['oneOf'];
  if (branches === undefined) return;
  delete schema['oneOf'];
  if (schema['anyOf'] === undefined) schema['anyOf'] = branches;
  else schema['allOf'] = [...(Array.isArray(schema['allOf']) ? schema['allOf'] : []), { anyOf: branches }];
}

function isOnlyNames(branches: readonly unknown[]): boolean {
  return branches.every((it) => isFields(it) && Array.isArray(it['required']) && Object.keys(it).every((key) => ABOUT.has(key)));
}

class Comparison {
  private readonly members = new Map<unknown, Branch>();

  constructor(
    private readonly refs: SchemaRefs,
    private readonly budget: ComparisonBudget,
  ) {}

  areDistinct(branches: readonly unknown[]): boolean {
    if (branches.length > MAX_BRANCHES) return false;
    const alternatives = branches.map((it) => this.alternativesOf(it, 0));
    const isEach = alternatives.every((one, index) =>
      alternatives.slice(index + 1).every((other) => one.every((a) => other.every((b) => this.excludes(a, b, 0)))),
    );
    return isEach && this.budget.left >= 0;
  }

  /** False once the source has used up its budget. */
  private charge(amount: number): boolean {
    this.budget.left -= amount;
    return this.budget.left >= 0;
  }

  /** Alternatives of a branch: of a union, those of its branches. */
  private alternativesOf(schema: unknown, depth: number): Branch[] {
    if (!this.charge(1)) return [];
    const resolved = this.refs.resolve(schema);
    const inner = listOf(resolved['oneOf'] ?? resolved['anyOf']);
    const isUnion = inner.length > 0 && inner.length <= MAX_BRANCHES && resolved['type'] === undefined && depth < MAX_DEPTH;
    return isUnion ? inner.flatMap((it) => this.alternativesOf(it, depth + 1)) : [this.branchOf(resolved)];
  }

  private branchOf(schema: unknown): Branch {
    const parts = partsOf(schema, ['allOf'], this.refs);
    const required = new Set<string>();
    const properties = new Map<string, unknown>();
    for (const part of parts) {
      const own = fieldsOf(part['properties']);
      const [names, members] = [listOf(part['required']), Object.keys(own)];
      if (!this.charge(1 + names.length + members.length)) break;
      for (const name of names) if (typeof name === 'string') required.add(name);
      for (const name of members) properties.set(name, own[name]);
    }
    const values = firstOf(parts, valuesOf);
    for (const value of values ?? []) this.charge(1 + Math.ceil(value.length / CHARACTERS));
    const isClosed = parts.length === 1 && parts[0]?.['additionalProperties'] === false && parts[0]['patternProperties'] === undefined;
    return { types: firstOf(parts, typesOf), values, required, properties, isClosed };
  }

  private excludes(one: Branch, other: Branch, depth: number): boolean {
    if (!this.charge(1 + (one.values?.size ?? 0) + one.required.size + other.required.size)) return false;
    if (isDisjoint(one.types, other.types) || isDisjoint(one.values, other.values)) return true;
    if (!isOnlyObject(one) || !isOnlyObject(other)) return false;
    if (forbids(one, other) || forbids(other, one)) return true;
    if (depth >= MAX_DEPTH) return false;
    const both = [...one.required].filter((name) => other.required.has(name));
    return both.some((name) => this.excludes(this.memberOf(one, name), this.memberOf(other, name), depth + 1));
  }

  private memberOf({ properties }: Branch, name: string): Branch {
    const schema = properties.get(name);
    const member = this.members.get(schema) ?? this.branchOf(schema ?? {});
    this.members.set(schema, member);
    return member;
  }
}

function firstOf<T>(parts: readonly Fields[], of: (part: Fields) => T | undefined): T | undefined {
  for (const part of parts) {
    const found = of(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

function typesOf(part: Fields): ReadonlySet<string> | undefined {
  const { type, nullable, 'x-nullable': older } = part;
  if (type === undefined) return Object.hasOwn(part, 'properties') ? new Set(['object']) : undefined;
  const names = [type].flat().map((it) => (it === 'integer' ? 'number' : (it ?? 'null')));
  return new Set([...names.filter((it) => typeof it === 'string'), ...(nullable === true || older === true ? ['null'] : [])]);
}

function valuesOf({ const: value, enum: values }: Fields): ReadonlySet<string> | undefined {
  if (value !== undefined) return new Set([JSON.stringify(value)]);
  return Array.isArray(values) ? new Set(values.map((it) => JSON.stringify(it))) : undefined;
}

const isOnlyObject = ({ types }: Branch): boolean => types?.size === 1 && types.has('object');

const forbids = ({ properties, isClosed }: Branch, { required }: Branch): boolean =>
  isClosed && [...required].some((name) => !properties.has(name));

function isDisjoint(one: ReadonlySet<string> | undefined, other: ReadonlySet<string> | undefined): boolean {
  return one !== undefined && other !== undefined && [...one].every((it) => !other.has(it));
}
