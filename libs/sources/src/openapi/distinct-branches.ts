import { fieldsOf, isFields, listOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import { partsOf } from './schema-parts.js';

const MAX_BRANCHES = 40;
const MAX_DEPTH = 3;
const ABOUT = new Set(['required', 'title', 'description']);

/** Facts of a schema that tell its values from those of others. */
interface Branch {
  /** Undefined: any type. */
  readonly types: ReadonlySet<string> | undefined;
  /** JSON texts of the values of an enumeration; undefined: any value. */
  readonly values: ReadonlySet<string> | undefined;
  readonly required: readonly string[];
  readonly properties: Fields;
  /** True if no members but those in `properties` are allowed. */
  readonly isClosed: boolean;
}

/** Lists of branches belong to one document. */
const known = new WeakMap<object, boolean>();

/**
 * True if no value fits two branches of a `oneOf`, as far as types, enumerations, required and forbidden members say; also if
 * each only lists required names, which is how documents say that one set of members excludes the others.
 */
export function areDistinct(branches: readonly unknown[], refs: DocumentRefs): boolean {
  const found = known.get(branches) ?? (isOnlyNames(branches) || compared(branches, refs));
  known.set(branches, found);
  return found;
}

function isOnlyNames(branches: readonly unknown[]): boolean {
  return branches.every((it) => isFields(it) && Array.isArray(it['required']) && Object.keys(it).every((key) => ABOUT.has(key)));
}

function compared(branches: readonly unknown[], refs: DocumentRefs): boolean {
  if (branches.length > MAX_BRANCHES) return false;
  const alternatives = branches.map((it) => alternativesOf(it, refs, 0));
  return alternatives.every((one, index) =>
    alternatives.slice(index + 1).every((other) => one.every((a) => other.every((b) => excludes(a, b, refs, 0)))),
  );
}

/** A branch that is only a union has its branches. */
function alternativesOf(schema: unknown, refs: DocumentRefs, depth: number): Branch[] {
  const resolved = refs.resolve(schema);
  const inner = listOf(resolved['oneOf'] ?? resolved['anyOf']);
  const isUnion = inner.length > 0 && inner.length <= MAX_BRANCHES && resolved['type'] === undefined && depth < MAX_DEPTH;
  return isUnion ? inner.flatMap((it) => alternativesOf(it, refs, depth + 1)) : [branchOf(resolved, refs)];
}

function branchOf(schema: unknown, refs: DocumentRefs): Branch {
  const parts = partsOf(schema, ['allOf'], refs);
  const first = <T>(of: (part: Fields) => T | undefined) => parts.map(of).find((it) => it !== undefined);
  return {
    types: first(typesOf),
    values: first(valuesOf),
    required: parts.flatMap((part) => listOf(part['required'])).filter((name) => typeof name === 'string'),
    properties: Object.fromEntries(parts.flatMap((part) => Object.entries(fieldsOf(part['properties'])))),
    isClosed: parts.length === 1 && parts[0]?.['additionalProperties'] === false && parts[0]['patternProperties'] === undefined,
  };
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

function excludes(one: Branch, other: Branch, refs: DocumentRefs, depth: number): boolean {
  if (isDisjoint(one.types, other.types) || isDisjoint(one.values, other.values)) return true;
  if (!isOnlyObject(one) || !isOnlyObject(other)) return false;
  if (forbids(one, other) || forbids(other, one)) return true;
  if (depth >= MAX_DEPTH) return false;
  const both = new Set(other.required);
  return one.required.some((name) => both.has(name) && excludes(memberOf(one, name, refs), memberOf(other, name, refs), refs, depth + 1));
}

const isOnlyObject = ({ types }: Branch): boolean => types?.size === 1 && types.has('object');

const forbids = ({ properties, isClosed }: Branch, { required }: Branch): boolean =>
  isClosed && required.some((name) => !Object.hasOwn(properties, name));

function memberOf({ properties }: Branch, name: string, refs: DocumentRefs): Branch {
  return branchOf(Object.hasOwn(properties, name) ? properties[name] : {}, refs);
}

function isDisjoint(one: ReadonlySet<string> | undefined, other: ReadonlySet<string> | undefined): boolean {
  return one !== undefined && other !== undefined && [...one].every((it) => !other.has(it));
}
