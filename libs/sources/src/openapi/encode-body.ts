import { exactJsonText, ToolError } from '#tool-sdk';
import { isFields } from '../fields.js';
import type { RequestBody } from './operation.js';
import { kindOfFile } from './file-kind.js';
import { pairsOf, plain, withDigits } from './parameter-style.js';

export interface EncodedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The body as its media type has it. @throws ToolError `invalid_arguments` */
export async function encodeBody(body: RequestBody, value: unknown): Promise<EncodedBody> {
  switch (body.kind) {
    case 'json':
      return textBody(body.mediaType, exactJsonText(value));
    case 'text':
      return textBody(body.mediaType, plain(withDigits(value)));
    case 'binary':
      return { contentType: body.mediaType, bytes: fromBase64(value, body.argument) };
    case 'form':
      return textBody(body.mediaType, formText(body, value));
    case 'multipart':
      return multipart(body, value);
    default:
      return body.kind satisfies never;
  }
}

const textBody = (contentType: string, text: string): EncodedBody => ({ contentType, bytes: new TextEncoder().encode(text) });

/** The defaults of OpenAPI for forms: lists repeat the name, objects are JSON. */
function formText(body: RequestBody, value: unknown): string {
  const pairs = Object.entries(objectOf(body, withDigits(value))).flatMap(([name, item]) => {
    const encoding = Object.hasOwn(body.encoding, name) ? body.encoding[name] : undefined;
    if (encoding?.styled === true) return pairsOf(encoding.written, item);
    return pairsOf({ name, style: 'form', explode: true }, isFields(item) ? exactJsonText(item) : item);
  });
  return pairs.map(([name, text]) => `${name}=${text}`).join('&');
}

async function multipart(body: RequestBody, value: unknown): Promise<EncodedBody> {
  const form = new FormData();
  for (const [name, item] of Object.entries(objectOf(body, withDigits(value))))
    for (const part of Array.isArray(item) ? item : [item]) {
      const contentType = Object.hasOwn(body.encoding, name) ? body.encoding[name]?.contentType : undefined;
      if (body.files.includes(name)) {
        const file = fileOf(part, name, contentType?.includes('*') === false ? contentType : undefined);
        form.append(name, new Blob([file.bytes], { type: file.type }), file.filename);
      } else if (typeof part === 'object') form.append(name, new Blob([exactJsonText(part)], { type: contentType ?? 'application/json' }));
      else form.append(name, plain(part));
    }
  const response = new Response(form);
  return { contentType: response.headers.get('content-type') ?? body.mediaType, bytes: new Uint8Array(await response.arrayBuffer()) };
}

function objectOf({ argument }: RequestBody, value: unknown): Readonly<Record<string, unknown>> {
  if (isFields(value)) return value;
  throw new ToolError('invalid_arguments', `expected an object as ${argument}`, { retryable: false });
}

/** A file part: Base64, alone or with its name and type. Without a name it gets one with the extension of its type. */
function fileOf(part: unknown, name: string, declared: string | undefined) {
  const { data, filename, content_type: given }: Readonly<Record<string, unknown>> = isFields(part) ? part : { data: part };
  if (typeof data !== 'string' || !BASE64.test(data)) {
    const expected = `expected Base64 text as ${name}, or {"data": Base64, "filename": "name.ext"}`;
    throw new ToolError('invalid_arguments', expected, { retryable: false });
  }
  const bytes = fromBase64(data, name);
  const { type, extension } = kindOfFile(bytes, typeof given === 'string' ? given : declared);
  return { bytes, type, filename: typeof filename === 'string' && filename !== '' ? filename : `${name}${extension}` };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function fromBase64(value: unknown, name: string): Uint8Array<ArrayBuffer> {
  if (typeof value === 'string' && BASE64.test(value)) return new Uint8Array(Buffer.from(value, 'base64'));
  throw new ToolError('invalid_arguments', `expected Base64 text as ${name}`, { retryable: false });
}
