import type { JsonSchema } from '#contracts';
import { plainArgumentNames } from '../model/model-tool.js';
import type { ArgumentHints } from '../tool-source.port.js';

/** Accepted forms of a tool's arguments beyond its schema. Computed once, at registration. */
export interface ArgumentShape {
  readonly rawArgument?: string;
  /** Argument → its other names, in the order in which they win. */
  readonly aliases: readonly (readonly [string, readonly string[]])[];
  /** Optional arguments for which null is no value of their own, so that null means absent. */
  readonly nullMeansAbsent: readonly string[];
  /** Argument → lower case → value, where its values are texts that differ by more than case. */
  readonly choices: readonly (readonly [string, ReadonlyMap<string, string>])[];
  /** Known arguments; present if the tool accepts no others. */
  readonly known?: ReadonlySet<string>;
}

export function argumentShape(schema: JsonSchema, { aliases = {}, rawArgument }: ArgumentHints = {}): ArgumentShape {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return {
    ...(rawArgument === undefined ? {} : { rawArgument }),
    aliases: [
      ...Object.entries(aliases).map(([name, others]) => [name, others ?? []] as const),
      ...[...plainArgumentNames(schema)].map(([name, plain]) => [name, [plain]] as const),
    ],
    ...(schema['additionalProperties'] === false && !isObject(schema['patternProperties'])
      ? { known: new Set(Object.keys(properties)) }
      : {}),
    nullMeansAbsent: Object.keys(properties).filter((name) => !required.includes(name) && refusesNull(properties[name])),
    choices: Object.entries(properties).flatMap(([name, property]) => {
      const choices = choicesOf(property);
      return choices === undefined ? [] : [[name, choices] as const];
    }),
  };
}

/** Moves aliased arguments to their names, drops meaningless nulls and writes choices as the schema does, in place. */
export function applyShape(args: Record<string, unknown>, shape: ArgumentShape): void {
  for (const [name, others] of shape.aliases) {
    const present = others.filter((other) => Object.hasOwn(args, other));
    if (present.length === 0) continue;
    const winner = [name, ...present].find((candidate) => !isEmpty(args[candidate])) ?? present[0];
    if (winner !== undefined && winner !== name && isEmpty(args[name])) args[name] = args[winner];
    for (const other of present) delete args[other];
  }
  for (const name of shape.nullMeansAbsent) if (args[name] === null) delete args[name];
  for (const [name, choices] of shape.choices) {
    const value = args[name];
    if (typeof value === 'string') args[name] = choices.get(value.toLowerCase()) ?? value;
  }
}

/** Removes arguments unknown to the tool, in place. */
export function dropUnknown(args: Record<string, unknown>, { known }: ArgumentShape): void {
  if (known !== undefined) for (const name of Object.keys(args)) if (!known.has(name)) delete args[name];
}

/** Undefined for an argument that takes anything else, or for which case matters. */
function choicesOf(schema: unknown): ReadonlyMap<string, string> | undefined {
  if (!isObject(schema) || !Array.isArray(schema['enum'])) return undefined;
  const values = schema['enum'].filter((it) => typeof it === 'string');
  const choices = new Map(values.map((it) => [it.toLowerCase(), it]));
  return values.length > 0 && choices.size === schema['enum'].length ? choices : undefined;
}

/** Certainly: only a schema that plainly names its types counts; a `$ref` or `{}` might allow null. */
function refusesNull(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (Array.isArray(schema['enum'])) return !schema['enum'].includes(null);
  if (Object.hasOwn(schema, 'const')) return schema['const'] !== null;
  if (typeof schema['type'] === 'string') return schema['type'] !== 'null';
  if (Array.isArray(schema['type'])) return !schema['type'].includes('null');
  const branches = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(branches) && branches.every(refusesNull);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
