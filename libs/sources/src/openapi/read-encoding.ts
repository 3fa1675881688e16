import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.js';
import { filesOf, isFile, propertiesOf } from './body-files.js';
import type { DocumentRefs } from './document-refs.js';
import { typeOnly } from './media-type.js';
import type { MultipartBody, PartEncoding, PositionalParts } from './operation.js';
import { STYLES } from './parameter-style.js';

const HEADER = /^[A-Za-z0-9-]{1,100}$/;
/** Most levels of parts within parts. */
const MAX_LEVELS = 4;
/** Most parts of a body on all levels: a few shared encodings give very many. */
const MAX_PARTS = 1_000;

/** Place of a body within others, and the number of parts that the whole may still have. */
interface Nesting {
  readonly level: number;
  readonly budget: { left: number };
}

/** How the properties of a form are written, by name. */
export function encodingOf(raw: unknown, refs: DocumentRefs): MultipartBody['encoding'] {
  return Object.fromEntries(entriesOf(raw).map(([name, it]) => [name, partEncoding(name, it, refs)]));
}

/** How a multipart body is written: by the names or the places of its parts. @throws RangeError for parts without end */
export function multipartOf(
  mediaType: string | undefined,
  content: Fields,
  refs: DocumentRefs,
  nesting: Nesting = { level: 0, budget: { left: MAX_PARTS } },
): MultipartBody {
  const parts = positionalParts(content, refs, nesting);
  if (parts !== undefined) return { mediaType, files: [], encoding: {}, parts };
  const schemas = new Map(propertiesOf(content['schema'], refs));
  const encoding = Object.fromEntries(
    entriesOf(content['encoding']).map(([name, it]) => [name, withNested(name, it, schemas.get(name), refs, nesting)]),
  );
  const files = filesOf(content['schema'], refs).filter((name) => !Object.hasOwn(encoding, name) || encoding[name]?.nested === undefined);
  return { mediaType, files, encoding };
}

const entriesOf = (raw: unknown) => Object.entries(fieldsOf(raw)).filter(([name, it]) => name !== '__proto__' && isFields(it));

/** OpenAPI 3.2: a multipart body whose parts have places in place of names. Undefined for one with names. */
function positionalParts(content: Fields, refs: DocumentRefs, nesting: Nesting): PositionalParts | undefined {
  const { schema, itemSchema, prefixEncoding, itemEncoding } = content;
  const { type, prefixItems, items } = refs.resolve(schema);
  const isList = [itemSchema, prefixEncoding, itemEncoding, prefixItems].some((it) => it !== undefined) || [type].flat().includes('array');
  if (!isList) return undefined;
  const schemas = listOf(prefixItems);
  const encodings = listOf(prefixEncoding);
  const part = (encoding: unknown, partSchema: unknown) => {
    const how = withNested('', encoding, partSchema, refs, nesting);
    return { ...how, isFile: how.nested === undefined && isFile(partSchema, refs) };
  };
  const first = Array.from({ length: Math.max(schemas.length, encodings.length) }, (_, index) =>
    part(encodings[index] ?? itemEncoding, schemas[index] ?? items ?? itemSchema),
  );
  return { first, rest: part(itemEncoding, items ?? itemSchema) };
}

function withNested(name: string, raw: unknown, schema: unknown, refs: DocumentRefs, { level, budget }: Nesting): PartEncoding {
  budget.left -= 1;
  if (budget.left < 0) throw new RangeError(`its multipart body has more than ${MAX_PARTS} parts`);
  const how = partEncoding(name, raw, refs);
  if (!typeOnly(how.contentType ?? '').startsWith('multipart/')) return how;
  const { type } = refs.resolve(schema);
  // A text or a file that is multipart already.
  const isWritten = type === undefined ? isFile(schema, refs) : [type].flat().some((it) => it === 'string' || it === 'file');
  if (isWritten) return how;
  if (level === MAX_LEVELS) throw new RangeError(`parts of its multipart body have parts, in more than ${MAX_LEVELS} levels`);
  const { encoding, prefixEncoding, itemEncoding } = refs.resolve(raw);
  return {
    ...how,
    nested: multipartOf(how.contentType, { schema, encoding, prefixEncoding, itemEncoding }, refs, { level: level + 1, budget }),
  };
}

function partEncoding(name: string, raw: unknown, refs: DocumentRefs): PartEncoding {
  const { style, explode, contentType, allowReserved, headers } = refs.resolve(raw);
  const known = STYLES.find((other) => other === style) ?? 'form';
  const written = {
    name,
    style: known,
    explode: typeof explode === 'boolean' ? explode : known === 'form',
    allowReserved: allowReserved === true,
  };
  const styled = style !== undefined || explode !== undefined || allowReserved === true;
  return { written, styled, contentType: textOf(contentType)?.split(',')[0]?.trim(), headers: fixedHeaders(headers, refs) };
}

/** Headers of a part with the one value that the document gives them. `Content-Type` is said by itself. */
function fixedHeaders(raw: unknown, refs: DocumentRefs): PartEncoding['headers'] {
  return Object.entries(fieldsOf(raw)).flatMap(([name, it]) => {
    const { const: only, enum: values, default: byDefault } = refs.resolve(refs.resolve(it)['schema']);
    const value = [only, listOf(values).length === 1 ? listOf(values)[0] : undefined, byDefault].find((one) => one !== undefined);
    const isSent = HEADER.test(name) && !/^content-(?:type|length)$/i.test(name);
    return isSent && typeof value === 'string' && /^[\u0020-\u007e]{1,1000}$/.test(value) ? [[name, value] as const] : [];
  });
}
