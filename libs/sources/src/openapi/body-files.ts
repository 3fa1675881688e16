import { JsonSchema } from '#contracts';
import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.js';
import type { DocumentRefs } from './document-refs.js';
import type { PositionalParts } from './operation.js';
import { partsOf } from './schema-parts.js';

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

/** Properties of a multipart body that are files, those of its parts and branches among them. */
export function filesOf(schema: unknown, refs: DocumentRefs): string[] {
  const all = new Set(partsOf(schema, UNIONS, refs).map((part) => part['properties']));
  const properties = [...all].flatMap((it) => Object.entries(fieldsOf(it)));
  return [...new Set(properties.filter(([, it]) => isFile(it, refs)).map(([name]) => name))];
}

/** Whether a schema is of binary text, with or without a name for it. */
export function isFile(schema: unknown, refs: DocumentRefs): boolean {
  return partsOf(schema, [...UNIONS, 'items'], refs).some(
    ({ format, type, contentMediaType, contentEncoding }) =>
      format === 'binary' || type === 'file' || (textOf(contentMediaType) !== undefined && contentEncoding === undefined),
  );
}

/** Says how files are given, as far as the schema shows its properties. */
export function withFiles(schema: JsonSchema, files: readonly string[]): JsonSchema {
  return files.length === 0 ? schema : JsonSchema.parse(shown(schema, new Set(files), 0));
}

/** Says how the files of a list of parts are given. */
export function withFileItems(schema: JsonSchema, { first, rest }: PositionalParts): JsonSchema {
  const { prefixItems, items } = schema;
  const file = (it: unknown, isBinary: boolean): unknown => (isBinary && isFields(it) ? fileSchema(it) : it);
  return JsonSchema.parse({
    ...schema,
    ...(Array.isArray(prefixItems) ? { prefixItems: prefixItems.map((it, index) => file(it, first[index]?.isFile === true)) } : {}),
    ...(items === undefined ? {} : { items: file(items, rest.isFile) }),
  });
}

function shown(schema: Fields, files: ReadonlySet<string>, level: number): Fields {
  if (level > MAX_LEVELS) return schema;
  const properties = fieldsOf(schema['properties']);
  const entries = Object.entries(properties).map(([name, it]) => [name, files.has(name) && isFields(it) ? fileSchema(it) : it]);
  const unions = UNIONS.filter((key) => Array.isArray(schema[key])).map((key): [string, unknown] => [
    key,
    listOf(schema[key]).map((part) => (isFields(part) ? shown(part, files, level + 1) : part)),
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
