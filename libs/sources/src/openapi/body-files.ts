import { JsonSchema } from '#contracts';
import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import type { MultipartBody, PositionalPart } from './operation.js';
import { partsOf } from '../schemas/schema-parts.js';

const BASE64 = 'Base64.';
const MAX_LEVELS = 8;
const UNIONS = ['allOf', 'anyOf', 'oneOf'];
/** Base64 with or without padding. A single character of a group has not even a byte. */
export const BASE64_TEXT = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==?)?|[A-Za-z0-9+/]{3}=?)?$/;

export const BINARY = { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' };

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

/** Properties of a multipart body, those of its parts and branches among them. */
export function propertiesOf(schema: unknown, refs: DocumentRefs): [name: string, schema: unknown][] {
  const all = new Set(partsOf(schema, UNIONS, refs).map((part) => part['properties']));
  return [...all].flatMap((it) => Object.entries(fieldsOf(it)));
}

/** Names of properties that are files. */
export function filesOf(schema: unknown, refs: DocumentRefs): string[] {
  const properties = propertiesOf(schema, refs).filter(([, it]) => isFile(it, refs));
  return [...new Set(properties.map(([name]) => name))];
}

/** True for a schema of binary text, with or without a name for it. */
export function isFile(schema: unknown, refs: DocumentRefs): boolean {
  return partsOf(schema, [...UNIONS, 'items'], refs).some(
    ({ format, type, contentMediaType, contentEncoding }) =>
      format === 'binary' || type === 'file' || (textOf(contentMediaType) !== undefined && contentEncoding === undefined),
  );
}

/** Says how files are given, as far as the schema shows its properties and the parts of these. */
export function withFiles(schema: JsonSchema, body: MultipartBody): JsonSchema {
  const { files, encoding, parts } = body;
  const isPlain = files.length === 0 && parts === undefined && Object.values(encoding).every(({ nested }) => nested === undefined);
  return isPlain ? schema : JsonSchema.parse(shownBody(schema, body));
}

function shownBody(schema: Fields, body: MultipartBody): Fields {
  if (body.parts === undefined) return shown(schema, body, 0);
  const { first, rest } = body.parts;
  const { prefixItems, items } = schema;
  return {
    ...schema,
    ...(Array.isArray(prefixItems) ? { prefixItems: prefixItems.map((it, index) => shownPart(it, first[index] ?? rest)) } : {}),
    ...(items === undefined ? {} : { items: shownPart(items, rest) }),
  };
}

function shownPart(schema: unknown, { nested, isFile: isBinary }: Partial<PositionalPart>): unknown {
  if (!isFields(schema)) return schema;
  if (nested !== undefined) return shownBody(schema, nested);
  return isBinary === true ? fileSchema(schema) : schema;
}

function shown(schema: Fields, body: MultipartBody, level: number): Fields {
  if (level > MAX_LEVELS) return schema;
  const { files, encoding } = body;
  const properties = fieldsOf(schema['properties']);
  const entries = Object.entries(properties).map(([name, it]) => {
    const nested = Object.hasOwn(encoding, name) ? encoding[name]?.nested : undefined;
    return [name, shownPart(it, { nested, isFile: files.includes(name) })];
  });
  const unions = UNIONS.filter((key) => Array.isArray(schema[key])).map((key): [string, unknown] => [
    key,
    listOf(schema[key]).map((part) => (isFields(part) ? shown(part, body, level + 1) : part)),
  ]);
  return {
    ...schema,
    ...Object.fromEntries<unknown>(unions),
    ...(entries.length === 0 ? {} : { properties: Object.fromEntries(entries) }),
  };
}

function fileSchema({ items, format: _format, ...rest }: Fields): Fields {
  if (isFields(items)) return { ...rest, items: fileSchema(items) };
  const union = UNIONS.find((key) => Array.isArray(rest[key]));
  if (union !== undefined) {
    const branches = listOf(rest[union]).map((part) => (isFields(part) && part['type'] !== 'null' ? fileSchema(part) : part));
    return { ...rest, [union]: branches };
  }
  const { type, description, contentMediaType: _media, maxLength: _max, minLength: _min, ...others } = rest;
  const isNullable = Array.isArray(type) && type.includes('null');
  const forms = [{ ...BINARY, description: BASE64 }, NAMED_FILE, ...(isNullable ? [{ type: 'null' }] : [])];
  return { ...others, anyOf: forms, ...(description === undefined ? {} : { description }) };
}
