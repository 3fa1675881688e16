import type { JsonSchema } from '#contracts';
import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import type { SchemaConverter } from './json-schema.js';
import { isJson, typeOnly } from './media-type.js';
import type { Parameter } from './operation.js';
import { PLACES, STYLES, type Place, type Style } from './parameter-style.js';

export const MAX_PARAMETERS = 200;
/** OpenAPI ignores the first three as parameters; the others belong to the connection. */
const NOT_SENT = new Set(
  'accept content-type authorization host content-length transfer-encoding connection cookie te trailer upgrade expect keep-alive proxy-authorization'.split(
    ' ',
  ),
);
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** Headers and parameters that the operator sets: the model does not see them. */
export interface Reserved {
  readonly headers: ReadonlySet<string>;
  readonly query: ReadonlySet<string>;
  readonly cookies: ReadonlySet<string>;
}

export interface ParameterContext {
  readonly refs: DocumentRefs;
  readonly converter: SchemaConverter;
  readonly reserved: Reserved;
  /** Called with what is left out, in words for the operator. */
  readonly say: (problem: string) => void;
}

/** The parameters of an operation, those of its path included, each with an argument name of its own. */
export function readParameters(path: Fields, operation: Fields, context: ParameterContext): Parameter[] {
  const { refs, converter, reserved, say } = context;
  const found = new Map<string, Fields>();
  for (const raw of [...parametersOf(path), ...parametersOf(operation)]) {
    const parameter = refs.required(raw);
    const place = placeOf(parameter);
    const name = String(parameter['name']);
    found.set(`${place} ${place === 'header' ? name.toLowerCase() : name}`, parameter);
  }
  if (found.size > MAX_PARAMETERS) throw new RangeError(`it has ${found.size} parameters; expected at most ${MAX_PARAMETERS}`);
  const taken = new Set<string>();
  return [...found.values()].flatMap((raw) => {
    const place = PLACES.find((it) => it === placeOf(raw));
    const name = textOf(raw['name']);
    if (place === undefined || name === undefined) {
      say(`a parameter cannot be read: ${JSON.stringify({ name: raw['name'], in: raw['in'] }).slice(0, 200)}`);
      return [];
    }
    if (isReserved(place, name, reserved)) return [];
    const argument = freeName(name, place, taken);
    taken.add(argument);
    return [parameterOf(raw, place, name, argument, converter, refs)];
  });
}

const placeOf = (raw: Fields): string => String(raw['in']).trim().toLowerCase();

/** Some documents have them by name. */
const parametersOf = ({ parameters }: Fields): readonly unknown[] =>
  isFields(parameters)
    ? Object.entries(parameters).map(([name, it]) => (isFields(it) && it['$ref'] === undefined ? { name, ...it } : it))
    : listOf(parameters);

function parameterOf(raw: Fields, place: Place, name: string, argument: string, converter: SchemaConverter, refs: DocumentRefs): Parameter {
  const [[mediaType, media] = []] = Object.entries(fieldsOf(raw['content']));
  const byDefault: Style = place === 'path' || place === 'header' ? 'simple' : 'form';
  const style = STYLES.find((it) => it === raw['style']) ?? byDefault;
  const schema = converter.convert(mediaType === undefined ? schemaOf(raw) : refs.resolve(media)['schema']);
  return {
    in: place,
    name,
    argument,
    style,
    explode: typeof raw['explode'] === 'boolean' ? raw['explode'] : style === 'form' || style === 'cookie',
    allowReserved: raw['allowReserved'] === true,
    allowEmpty: raw['allowEmptyValue'] === true,
    required: place === 'path' || String(raw['required']) === 'true',
    json: mediaType !== undefined && (isJson(typeOnly(mediaType)) || (place !== 'querystring' && mediaType.includes('*'))),
    schema: described(place === 'path' ? notEmpty(schema) : schema, textOf(raw['description'])),
  };
}

/** Older documents have keywords of the schema beside those of the parameter. */
function schemaOf(raw: Fields): unknown {
  if (isFields(raw['schema']) || typeof raw['schema'] === 'boolean') return raw['schema'];
  const { type, format, items, enum: values, minimum, maximum, default: given } = raw;
  return { type, format, items, enum: values, minimum, maximum, default: given };
}

/** A path without the text of a parameter is another operation. */
function notEmpty(schema: JsonSchema): JsonSchema {
  return schema['type'] === 'string' && schema['minLength'] === undefined ? { ...schema, minLength: 1 } : schema;
}

const described = (schema: JsonSchema, description: string | undefined): JsonSchema =>
  description === undefined ? schema : { ...schema, description: description.slice(0, 2_000) };

function isReserved(place: Place, name: string, { headers, query, cookies }: Reserved): boolean {
  if (place === 'header') return !HEADER_NAME.test(name) || NOT_SENT.has(name.toLowerCase()) || headers.has(name.toLowerCase());
  return (place === 'query' && query.has(name)) || (place === 'cookie' && (cookies.has(name) || !HEADER_NAME.test(name)));
}

/** Model providers take letters, digits, `_`, `.` and `-`, at most 64. Depends on the document alone. */
export function freeName(name: string, suffix: string, taken: ReadonlySet<string>): string {
  const readable =
    name
      .slice(0, 200)
      .replace(/[^A-Za-z0-9_.-]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 50) || suffix;
  const candidates = [readable, `${readable}_${suffix}`];
  for (let count = 2; ; count += 1) {
    const free = candidates.find((it) => !taken.has(it) && it !== '__proto__');
    if (free !== undefined) return free;
    candidates.push(`${readable}_${suffix}_${count}`);
  }
}
