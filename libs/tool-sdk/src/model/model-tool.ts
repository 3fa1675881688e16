import type { JsonSchema, JsonValue, ToolDescriptor } from '#contracts';
import { foldRoot } from './fold-root.js';
import { ModelCopy } from './model-copy.js';
import { plainNames } from './plain-names.js';
import { isObject } from './schema-parts.js';
import { unionNote } from './union-note.js';

/** Names of arguments for a model: `plain` where its API takes only letters, digits and `_.-`, at most 64; `own` for any others. */
export type ArgumentNames = 'plain' | 'own';

interface ModelInput {
  readonly schema: JsonSchema;
  readonly note: string;
}

/** Keywords that APIs of models refuse at the root, or that `foldRoot` reads. */
const FOLDED = new Set(['type', 'properties', 'required', '$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'const', 'not']);
/** Keywords with names of arguments, which a model knows by other names. Calls are checked with them all the same. */
const NAMING = new Set('dependentRequired dependentSchemas dependencies propertyNames if then else default examples'.split(' '));
const MAX_SHOWN_NAME = 200;
const known = { plain: new WeakMap<JsonSchema, ModelInput>(), own: new WeakMap<JsonSchema, ModelInput>() };

/**
 * Tool as APIs of models accept it, whatever its source wrote: its schema is one object with all arguments at the root. The
 * description says what such a schema cannot. Calls are checked with the schema of the source, and `argumentShape` knows
 * the plain names. Pure; results are kept for as long as the schemas.
 */
export function modelTool<T extends Pick<ToolDescriptor, 'description' | 'input'>>(tool: T, names: ArgumentNames): T {
  const { schema, note } = (known[names].get(tool.input) ?? keep(tool.input, names)) satisfies ModelInput;
  return { ...tool, input: schema, ...(note === '' ? {} : { description: `${tool.description}\n\n${note}`.trim() }) };
}

/** Names of arguments that models may use in place of odd ones. */
export function plainArgumentNames(input: JsonSchema): ReadonlyMap<string, string> {
  const { properties, required } = foldRoot(input);
  return plainNames([...new Set([...properties.keys(), ...required])]);
}

function keep(input: JsonSchema, names: ArgumentNames): ModelInput {
  const made = modelInput(input, names);
  known[names].set(input, made);
  return made;
}

function modelInput(input: JsonSchema, names: ArgumentNames): ModelInput {
  const folded = foldRoot(input);
  const { properties, required, closed } = folded;
  const all = [...new Set([...properties.keys(), ...required])];
  const plain = names === 'plain' ? plainNames(all) : new Map<string, string>();
  const nameOf = (name: string) => plain.get(name) ?? name;
  const copy = new ModelCopy(input);
  const kept = Object.entries(input).filter(([key]) => !FOLDED.has(key) && (plain.size === 0 || !NAMING.has(key)));
  const arguments_ = all.flatMap((name): [string, JsonValue][] => {
    const schemas = properties.get(name) ?? [true];
    if (schemas.every((it) => it === false) && !required.has(name)) return [];
    const schema = joined(schemas);
    return [[nameOf(name), copy.of(plain.has(name) ? withName(schema, name) : schema)]];
  });
  const schema: JsonSchema = {
    type: 'object',
    ...copy.of(Object.fromEntries(kept)),
    properties: Object.fromEntries(arguments_),
    ...(required.size === 0 ? {} : { required: [...required].map(nameOf) }),
    ...(closed ? { additionalProperties: false } : {}),
  };
  copy.mendReferences(schema);
  return { schema, note: unionNote(folded, nameOf) };
}

/** Schema of an argument that branches describe differently. */
function joined(schemas: readonly JsonValue[]): JsonValue {
  const different = [...new Map(schemas.map((it) => [JSON.stringify(it), it])).values()];
  const [first = true] = different;
  if (different.length < 2) return first;
  const values = different.map(valuesOf);
  if (values.some((it) => it === undefined)) return { anyOf: different };
  const types = new Set(different.map((it) => (isObject(it) ? it['type'] : undefined)));
  const [type] = types;
  const all = values.flatMap((it) => it ?? []);
  return {
    ...(types.size === 1 && typeof type === 'string' ? { type } : {}),
    enum: [...new Map(all.map((it) => [JSON.stringify(it), it])).values()],
  };
}

/** Values of a schema that says no more than these. */
function valuesOf(schema: JsonValue): readonly JsonValue[] | undefined {
  if (!isObject(schema)) return undefined;
  const { type: _, title: _title, const: value, enum: values, ...others } = schema;
  if (Object.keys(others).length > 0) return undefined;
  return value !== undefined ? [value] : Array.isArray(values) ? values : undefined;
}

function withName(schema: JsonValue, name: string): JsonValue {
  if (schema === false) return schema;
  const own = isObject(schema) ? schema : {};
  const said = typeof own['description'] === 'string' ? `${own['description']} ` : '';
  return { ...own, description: `${said}The tool calls it ${JSON.stringify(name.slice(0, MAX_SHOWN_NAME))}.` };
}
