import { exactJsonText, ToolError } from '#tool-sdk';
import { BASE64_TEXT } from './body-files.js';
import { isFields } from '../fields.js';
import { kindOfFile } from './file-kind.js';
import { inUtf8, isJson, typeOnly } from './media-type.js';
import { multipart } from './multipart.js';
import type { RequestBody } from './operation.js';
import { pairsOf, plain, withDigits } from './parameter-style.js';

export interface EncodedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The body as its media type has it. @throws ToolError `invalid_arguments` */
export function encodeBody(body: RequestBody, value: unknown): EncodedBody {
  const { mediaType = 'application/octet-stream' } = body;
  switch (body.kind) {
    case 'json':
      return textBody(mediaType, exactJsonText(value));
    case 'lines':
      return textBody(mediaType, linesOf(typeOnly(mediaType) === 'application/json-seq' ? '\u001e' : '', value));
    case 'text':
      return textBody(mediaType, plain(withDigits(value)));
    case 'binary': {
      const bytes = fromBase64(value, body.argument);
      return { contentType: kindOfFile(bytes, body.mediaType).type, bytes };
    }
    case 'form':
      return textBody(mediaType, formText(body, objectOf(body, withDigits(value))));
    case 'multipart':
      return multipart(body, body.parts === undefined ? objectOf(body, withDigits(value)) : listOf(body, withDigits(value)));
    default:
      return body.kind satisfies never;
  }
}

const textBody = (contentType: string, text: string): EncodedBody => ({
  contentType: inUtf8(contentType),
  bytes: new TextEncoder().encode(text),
});

const linesOf = (before: string, value: unknown): string =>
  [value]
    .flat()
    .map((it) => `${before}${exactJsonText(it)}\n`)
    .join('');

/** OpenAPI's defaults for forms: lists repeat the name, objects are JSON. Null has no form and is omitted. */
export function formText({ encoding }: Pick<RequestBody, 'encoding'>, value: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(value).flatMap(([name, item]) => {
    const how = Object.hasOwn(encoding, name) ? encoding[name] : undefined;
    if (item === null) return [];
    if (how?.styled === true) return pairsOf(how.written, item);
    const isJsonText = isFields(item) || (Array.isArray(item) && isJson(typeOnly(how?.contentType ?? '')));
    return pairsOf({ name, style: 'form', explode: true }, isJsonText ? exactJsonText(item) : item);
  });
  return pairs.map(([name, text]) => `${name}=${text}`).join('&');
}

function objectOf({ argument }: RequestBody, value: unknown): Readonly<Record<string, unknown>> {
  if (isFields(value)) return value;
  throw new ToolError('invalid_arguments', `expected an object as ${argument}`, { retryable: false });
}

function listOf({ argument }: RequestBody, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new ToolError('invalid_arguments', `expected a list as ${argument}`, { retryable: false });
}

function fromBase64(value: unknown, name: string): Uint8Array<ArrayBuffer> {
  if (typeof value === 'string' && BASE64_TEXT.test(value)) return new Uint8Array(Buffer.from(value, 'base64'));
  throw new ToolError('invalid_arguments', `expected Base64 text as ${name}`, { retryable: false });
}
