import { randomUUID } from 'node:crypto';
import { exactJsonText, ToolError } from '#tool-sdk';
import { isFields } from '../fields.js';
import { BASE64_TEXT } from './body-files.js';
import { kindOfFile } from './file-kind.js';
import { inUtf8, isJson, typeOnly } from './media-type.js';
import type { MultipartBody, PartEncoding } from './operation.js';
import { pairsOf, plain } from './parameter-style.js';

interface Part {
  readonly filename?: string;
  /** Text has none, as browsers send it. */
  readonly type?: string | undefined;
  readonly content: Uint8Array | string;
}

type Named = Readonly<Record<string, unknown>>;

/**
 * RFC 7578 and RFC 2046: the parts of an object have names, those of a list have places. Only files have a file name:
 * servers take any part with one for a file. @throws ToolError `invalid_arguments`
 */
export function multipart(body: MultipartBody, value: Named | readonly unknown[]) {
  const { mediaType = 'multipart/form-data' } = body;
  const boundary = `----toolyard-${randomUUID()}`;
  const isForm = typeOnly(mediaType) === 'multipart/form-data';
  const all = isFields(value) ? namedParts(body, value, isForm) : placedParts(body, value);
  const chunks = all.flatMap(([head, { content }]) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  const bytes = Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
  const contentType = `${mediaType.replace(/;\s*boundary=[^;]*/i, '')}; boundary=${boundary}`;
  return { contentType, bytes: new Uint8Array(bytes) };
}

function namedParts({ encoding, files }: MultipartBody, value: Named, isForm: boolean): [head: string, part: Part][] {
  return Object.entries(value).flatMap(([name, item]) => {
    const how = Object.hasOwn(encoding, name) ? encoding[name] : undefined;
    const headers = how?.headers.filter(([it]) => it.toLowerCase() !== DISPOSITION) ?? [];
    return partsOf(name, item, how, files.includes(name)).map((part): [string, Part] => {
      const disposition = `${isForm ? 'form-data' : 'attachment'}; name="${quoted(name)}"${fileText(part)}`;
      return [headOf([['Content-Disposition', disposition], ...headers], part), part];
    });
  });
}

/** Names and file names only where the document or the caller gives them. */
function placedParts({ parts }: MultipartBody, value: readonly unknown[]): [head: string, part: Part][] {
  return value.flatMap((item, index) => {
    const how = parts?.first[index] ?? parts?.rest;
    const isFile = how?.isFile === true;
    const isNamed = isFile && isFields(item) && typeof item['filename'] === 'string';
    // A list within the list is one part.
    const isJsonList = !isFile && Array.isArray(item) && how?.nested === undefined;
    const all = isJsonList
      ? [{ type: how?.contentType ?? 'application/json', content: exactJsonText(item) }]
      : partsOf(isFile ? 'file' : `part ${index + 1}`, item, how, isFile);
    return all.map((part): [string, Part] => [headOf(withDisposition(how?.headers ?? [], part, isNamed), part), part]);
  });
}

function withDisposition(headers: PartEncoding['headers'], part: Part, isNamed: boolean): PartEncoding['headers'] {
  const own = headers.find(([it]) => it.toLowerCase() === DISPOSITION);
  if (own === undefined) return isNamed ? [['Content-Disposition', `attachment${fileText(part)}`], ...headers] : headers;
  const text = /;\s*filename/i.test(own[1]) ? own[1] : `${own[1]}${fileText(part)}`;
  return [['Content-Disposition', text], ...headers.filter((it) => it !== own)];
}

const DISPOSITION = 'content-disposition';

const fileText = ({ filename }: Part): string => (filename === undefined ? '' : `; filename="${quoted(filename)}"`);

function headOf(headers: PartEncoding['headers'], { filename, type }: Part): string {
  const all = type === undefined ? headers : [...headers, ['Content-Type', filename === undefined ? inUtf8(type) : type] as const];
  return all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

/** Names in the form of browsers (HTML, "multipart form data"). */
const quoted = (text: string): string =>
  text.toWellFormed().replace(/["\r\n]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

function partsOf(name: string, item: unknown, how: PartEncoding | undefined, isFile: boolean): Part[] {
  if (how?.nested !== undefined) return nestedParts(name, how.nested, item);
  const type = safeType(how?.contentType);
  if (isFile) return [item].flat().flatMap((it) => (it === null ? [] : fileOf(it, name, type)));
  // The fields of an object would lose their names.
  if (how?.styled === true && how.contentType === undefined && item !== null && !isFields(item))
    return pairsOf({ ...how.written, allowReserved: false }, item).map(([, text]) => ({ content: decodeURIComponent(text) }));
  // A type that the document gives to a list is that of the list.
  const isOneJson = type !== undefined && isJson(typeOnly(type));
  const parts = Array.isArray(item) && !isOneJson ? item : [item];
  return parts.flatMap((part) => {
    if (part === null || part === undefined) return isOneJson ? [{ type, content: 'null' }] : [];
    if (typeof part === 'object') return [{ type: type ?? 'application/json', content: exactJsonText(part) }];
    return [{ type, content: isOneJson && typeof part !== 'string' ? exactJsonText(part) : plain(part) }];
  });
}

/** Single part, or several if the item is a list and its parts have no names. */
function nestedParts(name: string, body: MultipartBody, item: unknown): Part[] {
  if (item === null) return [];
  const isList = Array.isArray(item);
  if (isList && body.parts === undefined) return item.flatMap((it) => nestedParts(name, body, it));
  if (!isFields(item) && !isList)
    throw new ToolError('invalid_arguments', `expected an object or a list as ${name}, which is sent as parts`, { retryable: false });
  const { contentType, bytes } = multipart(body, item);
  return [{ type: contentType, content: bytes }];
}

const safeType = (type: string | undefined): string | undefined =>
  type !== undefined && !type.includes('*') && /^[\u0020-\u007e]+$/.test(type) ? type : undefined;

/** A file part: Base64, alone or with its name and type. Without a name it gets one with the extension of its type. */
function fileOf(part: unknown, name: string, declared: string | undefined): Part {
  const { data, filename, content_type: given }: Readonly<Record<string, unknown>> = isFields(part) ? part : { data: part };
  if (typeof data !== 'string' || !BASE64_TEXT.test(data)) {
    const expected = `expected Base64 text as ${name}, or {"data": Base64, "filename": "name.ext"}`;
    throw new ToolError('invalid_arguments', expected, { retryable: false });
  }
  const content = Buffer.from(data, 'base64');
  const { type, extension } = kindOfFile(content, safeType(typeof given === 'string' ? given : declared));
  return { content, type, filename: typeof filename === 'string' && filename !== '' ? filename : `${name}${extension}` };
}
