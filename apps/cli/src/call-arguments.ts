import { z } from 'zod';
import { Json, parseExactJson, type ToolDescriptor } from '#contracts';
import { UsageError } from './usage-error.js';

export type CallArguments = Record<string, z.output<typeof Json>>;

const Arguments = z.record(z.string(), Json);
const Schema = z.object({ properties: z.record(z.string(), z.unknown()), additionalProperties: z.unknown() });
const Required = z.object({ required: z.array(z.string()) });
const Property = z.object({ type: z.union([z.string(), z.array(z.string())]) });

/** `name=value` or `name:=JSON`. */
const NAMED = /^[^\s=:]+:?=/;

export const ARGUMENTS_HELP = `
Arguments are written as name=value, as name:=JSON, as one JSON object, or as - to read that object from stdin:

  toolyard call shell 'ls -l'                    the first word may be the only required argument of the tool
  toolyard call shell command='ls -l'
  toolyard call sleep ms=500                     numbers and the like become what the tool's schema wants
  toolyard call echo list:='[1, 2]'
  toolyard call shell '{"command": "ls -l"}'`;

/** Parsed command-line arguments. `loose`: names of text values that may become another type, by the tool's schema. */
export interface WrittenArguments {
  readonly values: CallArguments;
  readonly loose: readonly string[];
}

/** True if the first word has no name, such as `ls`: the value of the tool's only required argument. */
export function isPositional(words: readonly string[]): boolean {
  const [first = '-'] = words;
  return first !== '-' && !isWholeJson(first) && !NAMED.test(first);
}

/** True for a word that can only be all arguments. A list is rejected as such; `[ -f x ] && ls` is a command. */
function isWholeJson(word: string): boolean {
  if (word.trimStart().startsWith('{')) return true;
  try {
    return Array.isArray(JSON.parse(word));
  } catch {
    return false;
  }
}

/** The name of the only required argument. @throws UsageError where there is not exactly one */
export function requiredArgument(tool: string, descriptor: Pick<ToolDescriptor, 'input'> | undefined, words: readonly string[]): string {
  const [name, ...more] = Required.safeParse(descriptor?.input).data?.required ?? [];
  if (name !== undefined && more.length === 0) return name;
  const required = name === undefined ? 'no required argument' : `the required arguments ${[name, ...more].join(', ')}`;
  const why = descriptor === undefined ? '' : `; ${tool} has ${required}`;
  throw new UsageError(`Expected name=value, name:=JSON, a JSON object or -, got ${JSON.stringify(words[0])}${why}`);
}

/** @throws UsageError with the expected form */
export function readArguments(words: readonly string[], readStdin: () => string): WrittenArguments {
  const [first, ...more] = words;
  if (first === undefined) return { values: {}, loose: [] };
  if (first === '-' || isWholeJson(first)) {
    if (more.length > 0) throw new UsageError('Expected nothing after a JSON object: it holds all arguments');
    return { values: readObject(first, readStdin), loose: [] };
  }
  const values: CallArguments = {};
  const loose: string[] = [];
  for (const word of words) {
    const [, name = '', mark = '', text = ''] = /^([^=:]+)(:?=)(.*)$/s.exec(word) ?? [];
    if (name === '') throw new UsageError(`Expected name=value, name:=JSON, a JSON object or -, got ${JSON.stringify(word)}`);
    if (name in values) throw new UsageError(`The argument ${name} is given twice`);
    if (mark === ':=') values[name] = jsonOf(text, `The value of ${name}`);
    else {
      values[name] = text;
      if (looksLikeJson(text)) loose.push(name);
    }
  }
  return { values, loose };
}

/** JSON object, or `-` for one on stdin. @throws UsageError with the expected form */
export function readObject(text: string, readStdin: () => string): CallArguments {
  return objectOf(text === '-' ? readStdin() : text);
}

/**
 * Converts texts to numbers, booleans, lists or objects if the schema accepts no text. Includes names missing in the schema: they
 * can only be aliases.
 */
export function coerceArguments({ values, loose }: WrittenArguments, tool: Pick<ToolDescriptor, 'input'> | undefined): CallArguments {
  const schema = Schema.safeParse(tool?.input);
  if (!schema.success) return values;
  const { properties, additionalProperties } = schema.data;
  const fitted = { ...values };
  for (const name of loose) {
    const text = values[name];
    const types = typesOf(properties[name]);
    const isNoText = properties[name] === undefined ? additionalProperties === false : types.length > 0 && !types.includes('string');
    if (isNoText && typeof text === 'string') fitted[name] = jsonOf(text, `The value of ${name}`);
  }
  return fitted;
}

/** The property's `type`; empty without one (`anyOf` and `$ref` are not resolved). */
function typesOf(property: unknown): string[] {
  const parsed = Property.safeParse(property);
  return parsed.success ? [parsed.data.type].flat() : [];
}

function looksLikeJson(text: string): boolean {
  return /^(-?\d|[[{]|true$|false$|null$)/.test(text);
}

function objectOf(text: string): CallArguments {
  const parsed = Arguments.safeParse(jsonOf(text, 'The arguments'));
  if (parsed.success) return parsed.data;
  throw new UsageError('The arguments are JSON, but not an object: expected {"name": value, …}');
}

function jsonOf(text: string, what: string): z.output<typeof Json> {
  try {
    return Json.parse(parseExactJson(text));
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
