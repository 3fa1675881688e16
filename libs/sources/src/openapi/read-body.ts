import type { JsonSchema } from '#contracts';
import { fieldsOf, textOf, type Fields } from '../fields.js';
import { BINARY, filesOf, isFile, withFiles } from './body-files.js';
import type { DocumentRefs } from './document-refs.js';
import type { SchemaConverter } from './json-schema.js';
import { isJson, isJsonLines, isText, typeOnly } from './media-type.js';
import type { BodyKind, MultipartBody, RequestBody } from './operation.js';
import { encodingOf, multipartOf } from './read-encoding.js';

const BASE64 = 'Base64.';

/** The body of an operation in the media type that fits a model best; undefined when it has none. */
export function readBody(
  operation: Fields,
  taken: ReadonlySet<string>,
  refs: DocumentRefs,
  converter: SchemaConverter,
): RequestBody | undefined {
  const raw = refs.required(operation['requestBody']);
  const media = Object.entries(fieldsOf(raw['content'])).map(([mediaType, it]) => {
    const content = refs.resolve(it);
    return { mediaType, content, kind: kindOf(typeOnly(mediaType), content['schema'], refs) };
  });
  const chosen = bestOf(media, refs);
  if (chosen === undefined) return undefined;
  const { kind } = chosen;
  const isLoneFile = kind === 'multipart' && refs.resolve(chosen.content['schema'])['type'] === 'string';
  const content = isLoneFile && isFile(chosen.content['schema'], refs) ? inField(chosen.content) : chosen.content;
  const mediaType = concrete(chosen.mediaType, kind);
  const body: MultipartBody =
    kind === 'multipart'
      ? multipartOf(mediaType, content, refs)
      : { mediaType, files: [], encoding: encodingOf(content['encoding'], refs) };
  const schema = withFiles(schemaOf(kind, content, converter, body.parts !== undefined), body);
  return {
    ...body,
    argument: taken.has('body') ? '_request_body' : 'body',
    kind,
    required: raw['required'] === true,
    schema: described(schema, textOf(raw['description']), kind),
  };
}

/** A form that is only a file in the document: forms have fields, and this one is `file` in most of them. */
function inField(content: Fields): Fields {
  return { ...content, schema: { type: 'object', required: ['file'], properties: { file: content['schema'] } } };
}

interface Media {
  readonly mediaType: string;
  readonly content: Fields;
  readonly kind: BodyKind;
}

/** JSON and forms have no place for files: where these are in both, the multipart body carries them. */
function bestOf(media: readonly Media[], refs: DocumentRefs): Media | undefined {
  const first = ORDER.map((kind) => media.find((it) => it.kind === kind)).find((it) => it !== undefined);
  const upload = media.find((it) => it.kind === 'multipart');
  if (first === undefined || upload === undefined || !['json', 'form'].includes(first.kind)) return first;
  return filesOf(first.content['schema'], refs).length > 0 ? upload : first;
}

const ORDER: readonly BodyKind[] = ['json', 'form', 'multipart', 'lines', 'text', 'binary'];

function kindOf(type: string, schema: unknown, refs: DocumentRefs): BodyKind {
  if (type === '*/*' || type === 'application/*') {
    if (isFile(schema, refs)) return 'binary';
    return refs.resolve(schema)['type'] === 'string' ? 'text' : 'json';
  }
  if (isJson(type)) return 'json';
  if (isJsonLines(type)) return 'lines';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type.startsWith('multipart/')) return 'multipart';
  return isText(type) || isEncoded(schema, refs) ? 'text' : 'binary';
}

/** The body is the Base64 text itself. */
function isEncoded(schema: unknown, refs: DocumentRefs): boolean {
  const { format, contentEncoding } = refs.resolve(schema);
  return format === 'byte' || contentEncoding === 'base64';
}

function concrete(mediaType: string, kind: BodyKind): string | undefined {
  if (/[^\u0020-\u007e]/.test(mediaType)) throw new RangeError('the media type of its body is not valid');
  if (kind === 'multipart') return mediaType.includes('*') ? 'multipart/form-data' : mediaType;
  if (!mediaType.includes('*')) return mediaType;
  return kind === 'json' ? 'application/json' : kind === 'text' ? 'text/plain' : undefined;
}

function schemaOf(kind: BodyKind, content: Fields, converter: SchemaConverter, isList: boolean): JsonSchema {
  switch (kind) {
    case 'binary':
      return BINARY;
    case 'text':
      return asText(converter.convert(content['schema']));
    case 'lines':
      return listed(converter, content);
    default: {
      const { schema, itemSchema } = content;
      return isList ? { ...converter.convert(schema ?? { type: 'array', items: itemSchema }), type: 'array' } : converter.convert(schema);
    }
  }
}

/** The whole body is one text, whatever the document says of its parts: XML has the schema of an object. */
function asText(schema: JsonSchema): JsonSchema {
  if (schema['type'] === 'string') return schema;
  const { description, title } = schema;
  return { type: 'string', ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
}

/** A list of what stands in the lines: the `itemSchema` of OpenAPI 3.2, or the schema of one of them or of the list. */
function listed(converter: SchemaConverter, { schema, itemSchema }: Fields): JsonSchema {
  const whole = itemSchema === undefined ? converter.convert(schema) : undefined;
  if (whole?.['type'] === 'array') return whole;
  return { type: 'array', items: whole ?? converter.convert(itemSchema) };
}

function described(schema: JsonSchema, description: string | undefined, kind: BodyKind): JsonSchema {
  const text = [description, kind === 'binary' ? BASE64 : undefined].filter(Boolean).join(' ');
  return text === '' ? schema : { ...schema, description: text.slice(0, 2_000) };
}
