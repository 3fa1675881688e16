import type { JsonValue } from '#contracts';
import type { Folded, Union } from './fold-root.js';
import { isObject } from './schema-parts.js';

const MAX_UNIONS = 5;
const MAX_SETS = 20;
const MAX_NAMES = 20;
const MAX_VALUE = 40;

/** Sentences for the model about arguments that belong together, which the schema of one object cannot say; empty for none. */
export function unionNote({ unions, required }: Folded, nameOf: (name: string) => string): string {
  return unions
    .slice(0, MAX_UNIONS)
    .flatMap((union) => sentence(union, required, nameOf))
    .join(' ');
}

function sentence({ branches, exactlyOne }: Union, required: ReadonlySet<string>, nameOf: (name: string) => string): string[] {
  const sets = branches.map((branch) => setOf(branch, required, nameOf));
  // Nothing is asked for where a branch asks for nothing, or all for the same.
  if (sets.some((set) => set === '') || new Set(sets).size < 2) return [];
  const shown = sets.length > MAX_SETS ? [...sets.slice(0, MAX_SETS), '…'] : sets;
  return [`Give the arguments of ${exactlyOne ? 'exactly' : 'at least'} one of these sets: ${shown.join('; ')}.`];
}

function setOf({ properties, required }: Folded, always: ReadonlySet<string>, nameOf: (name: string) => string): string {
  const shown = (name: string) => `\`${nameOf(name)}\`${valueOf(properties.get(name))}`;
  const needed = [...required].filter((name) => !always.has(name) || valueOf(properties.get(name)) !== '');
  const further = [...properties.keys()].filter((name) => !required.has(name) && !always.has(name));
  return [
    ...listed(needed).map((name) => (name === undefined ? '…' : shown(name))),
    ...listed(further).map((name) => (name === undefined ? '…' : `optionally ${shown(name)}`)),
  ].join(', ');
}

function listed(names: readonly string[]): readonly (string | undefined)[] {
  return names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), undefined] : names;
}

/** The only value of an argument in a set, by which models know the set. */
function valueOf([schema, ...others]: readonly JsonValue[] = []): string {
  if (!isObject(schema) || others.length > 0) return '';
  const { const: value = Array.isArray(schema['enum']) && schema['enum'].length === 1 ? schema['enum'][0] : undefined } = schema;
  return value === undefined ? '' : ` = ${JSON.stringify(value).slice(0, MAX_VALUE)}`;
}
