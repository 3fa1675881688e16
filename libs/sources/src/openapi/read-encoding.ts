import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.js';
import { isFile } from './body-files.js';
import type { DocumentRefs } from './document-refs.js';
import type { PartEncoding, PositionalParts, RequestBody } from './operation.js';
import { STYLES } from './parameter-style.js';

const HEADER = /^[A-Za-z0-9-]{1,100}$/;

/** How the properties of a form or a multipart body are written, by name. */
export function encodingOf(raw: unknown, refs: DocumentRefs): RequestBody['encoding'] {
  const entries = Object.entries(fieldsOf(raw)).filter(([name, it]) => name !== '__proto__' && isFields(it));
  return Object.fromEntries(entries.map(([name, it]) => [name, partEncoding(name, it, refs)]));
}

/** OpenAPI 3.2: a multipart body whose parts have places in place of names. Undefined for one with names. */
export function positionalParts(content: Fields, refs: DocumentRefs): PositionalParts | undefined {
  const { schema, itemSchema, prefixEncoding, itemEncoding } = content;
  const { type, prefixItems, items } = refs.resolve(schema);
  const isList = [itemSchema, prefixEncoding, itemEncoding, prefixItems].some((it) => it !== undefined) || [type].flat().includes('array');
  if (!isList) return undefined;
  const schemas = listOf(prefixItems);
  const encodings = listOf(prefixEncoding);
  const first = Array.from({ length: Math.max(schemas.length, encodings.length) }, (_, index) => {
    const isBinary = isFile(schemas[index] ?? items ?? itemSchema, refs);
    return { ...partEncoding('', encodings[index] ?? itemEncoding, refs), isFile: isBinary };
  });
  return { first, rest: { ...partEncoding('', itemEncoding, refs), isFile: isFile(items ?? itemSchema, refs) } };
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
