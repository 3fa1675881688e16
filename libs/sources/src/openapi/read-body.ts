import { JsonSchema } from '#contracts';
import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import type { SchemaConverter } from './json-schema.js';
import type { BodyKind, RequestBody } from './operation.js';
import { STYLES } from './parameter-style.js';

const BASE64 = 'Base64.';
const BINARY = { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' };

/** A file with its name, which many servers take the type from. */
const NAMED_FILE = {
  type: 'object',
  properties: {
    data: { ...BINARY, description: BASE64 },
    filename: { type: 'string', minLength: 1, maxLength: 255, description: 'Name of the file with its extension.' },
    content_type: { type: 'string', pattern: '^[\\w.+-]+/[\\w.+-]+$', description: 'Media type of the file.' },
  },
  required: ['data'],
  additionalProperties: false,
};

/** The body of an operation in the media type that fits a model best; undefined when it has none. */
export function readBody(
  operation: Fields,
  taken: ReadonlySet<string>,
  refs: DocumentRefs,
  converter: SchemaConverter,
): RequestBody | undefined {
  const raw = refs.resolve(operation['requestBody']);
  const media = Object.keys(fieldsOf(raw['content'])).map((mediaType) => ({ mediaType, kind: kindOf(mediaType) }));
  const chosen = ORDER.map((kind) => media.find((it) => it.kind === kind)).find((it) => it !== undefined);
  if (chosen === undefined) return undefined;
  const content = refs.resolve(fieldsOf(raw['content'])[chosen.mediaType]);
  const properties = allProperties(content['schema'], refs);
  const files = chosen.kind === 'multipart' ? Object.keys(properties).filter((name) => isFile(properties[name], refs)) : [];
  const converted = chosen.kind === 'binary' ? BINARY : withFiles(converter.convert(content['schema']), files);
  const description = textOf(raw['description']);
  const schema: JsonSchema =
    chosen.kind === 'binary'
      ? { ...converted, description: [description, BASE64].filter(Boolean).join(' ') }
      : described(converted, description);
  return {
    argument: taken.has('body') ? '_request_body' : 'body',
    mediaType: concrete(chosen.mediaType, chosen.kind),
    kind: chosen.kind,
    required: raw['required'] === true,
    schema: chosen.kind === 'text' ? { ...schema, type: 'string' } : schema,
    files,
    encoding: encodingOf(fieldsOf(content['encoding'])),
  };
}

const ORDER: readonly BodyKind[] = ['json', 'form', 'multipart', 'text', 'binary'];

function kindOf(mediaType: string): BodyKind {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  if (type === 'application/json' || type.endsWith('+json') || type === '*/*' || type === 'application/*') return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type.startsWith('multipart/')) return 'multipart';
  return type.startsWith('text/') || type.endsWith('xml') ? 'text' : 'binary';
}

function concrete(mediaType: string, kind: BodyKind): string {
  if (/[^\u0020-\u007e]/.test(mediaType)) throw new RangeError('the media type of its body is not valid');
  if (!mediaType.includes('*')) return mediaType;
  return kind === 'json' ? 'application/json' : kind === 'text' ? 'text/plain' : 'application/octet-stream';
}

function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  return description === undefined ? schema : { ...schema, description: description.slice(0, 2_000) };
}

/** Those of the schema and of the parts of its `allOf`. */
function allProperties(schema: unknown, refs: DocumentRefs): Fields {
  const resolved = refs.resolve(schema);
  const parts = listOf(resolved['allOf']).map((part) => refs.resolve(part));
  return Object.fromEntries([...parts, resolved].flatMap((part) => Object.entries(fieldsOf(part['properties']))));
}

/** Says how files are given, as far as the schema shows its properties. */
function withFiles(schema: JsonSchema, files: readonly string[]): JsonSchema {
  const properties = fieldsOf(schema['properties']);
  const shown = files
    .filter((name) => isFields(properties[name]))
    .map((name): [string, Fields] => [name, fileSchema(fieldsOf(properties[name]))]);
  return shown.length === 0 ? schema : JsonSchema.parse({ ...schema, properties: { ...properties, ...Object.fromEntries(shown) } });
}

function fileSchema({ items, format: _format, ...rest }: Fields): Fields {
  if (isFields(items)) return { ...rest, items: fileSchema(items) };
  const { type: _type, description, ...others } = rest;
  return { ...others, anyOf: [{ ...BINARY, description: BASE64 }, NAMED_FILE], ...(description === undefined ? {} : { description }) };
}

function isFile(schema: unknown, refs: DocumentRefs): boolean {
  const resolved = refs.resolve(schema);
  const single = resolved['type'] === 'array' ? refs.resolve(resolved['items']) : resolved;
  return single['format'] === 'binary' || (textOf(single['contentMediaType']) !== undefined && single['contentEncoding'] === undefined);
}

function encodingOf(raw: Fields): RequestBody['encoding'] {
  const entries = Object.entries(raw).filter(([name, it]) => name !== '__proto__' && isFields(it));
  return Object.fromEntries(
    entries.map(([name, it]) => {
      const { style, explode, contentType, allowReserved } = fieldsOf(it);
      const known = STYLES.find((other) => other === style) ?? 'form';
      const written = {
        name,
        style: known,
        explode: typeof explode === 'boolean' ? explode : known === 'form',
        allowReserved: allowReserved === true,
      };
      const styled = style !== undefined || explode !== undefined;
      return [name, { written, styled, contentType: textOf(contentType)?.split(',')[0]?.trim() }];
    }),
  );
}
