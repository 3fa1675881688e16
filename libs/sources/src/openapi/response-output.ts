import { Json as JsonValue, parseExactJson, type Content, type JsonSchema } from '#contracts';
import { ToolError, type ToolOutputObject } from '#tool-sdk';
import { decodeText, isJson, isText as isTextType, typeOnly } from './media-type.js';
import { nextPage, nextPageText, type Asked } from './next-page.js';

type Json = JsonSchema[string];

/** Most bytes of a body as text; the result mentions a cut. */
const TEXT_BYTES = 65_536;
const STRUCTURED_BYTES = 1_048_576;
const BINARY_BYTES = 1_048_576;
const ERROR_CHARACTERS = 2_000;

export interface Answer {
  readonly method: string;
  /** Address without secrets. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/**
 * Output by the status: a result below 400, a retryable failure for 429 and 5xx, else an error for the model.
 * @throws ToolError
 */
export function outputOf(answer: Answer, asked: Asked): ToolOutputObject {
  const { method, url, status, headers, body } = answer;
  const line = `${method} ${url} → ${status}`;
  if (status === 429 || status >= 500) {
    const wait = headers.get('retry-after');
    const said = isText(answer) ? textOf(answer).slice(0, ERROR_CHARACTERS) : '';
    const when = wait === null ? '' : ` (Retry-After: ${wait.slice(0, 100)})`;
    throw new ToolError('tool_failed', `${line}${when}${said === '' ? '' : `\n\n${said}`}`, {
      retryable: true,
      retryAfterMs: retryAfterMs(wait, Date.now()),
    });
  }
  const json = jsonOf(answer);
  const page = status < 300 ? nextPage(headers, json, asked) : undefined;
  return {
    content: contentOf(answer, page === undefined ? line : `${line}\n${nextPageText(page)}`),
    ...(status >= 300 ? { isError: true } : {}),
    ...(json === undefined || body.byteLength > STRUCTURED_BYTES ? {} : structured(json)),
    details: {
      status,
      method,
      url,
      ...(page === undefined ? {} : { next: page.next }),
      ...(page?.args === undefined ? {} : { nextArguments: page.args }),
    },
    ...(isText(answer) && body.byteLength > TEXT_BYTES ? { seenBytes: body.byteLength } : {}),
  };
}

/** RFC 9110, section 10.2.3: seconds, or a date. 0 for what is neither. */
export function retryAfterMs(header: string | null, nowMs: number): number {
  if (header === null) return 0;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}

/** Programs that read MCP expect an object: a list is its `items`. */
function structured(json: Json): { structuredContent?: Json } {
  if (Array.isArray(json)) return { structuredContent: { items: json } };
  return typeof json === 'object' && json !== null ? { structuredContent: json } : {};
}

function contentOf(answer: Answer, line: string): Content[] {
  const { body, headers, url } = answer;
  if (body.byteLength === 0) return [{ type: 'text', text: line }];
  if (isText(answer)) return [{ type: 'text', text: `${line}\n\n${cut(answer)}` }];
  const mimeType = typeOf(headers);
  const head: Content = { type: 'text', text: `${line}\n\n${body.byteLength} bytes of ${mimeType}` };
  if (body.byteLength > BINARY_BYTES) return [{ type: 'text', text: `${head.text}, more than the ${BINARY_BYTES} that a result may have` }];
  const data = body.toString('base64');
  if (mimeType.startsWith('image/')) return [head, { type: 'image', data, mimeType }];
  if (mimeType.startsWith('audio/')) return [head, { type: 'audio', data, mimeType }];
  return [head, { type: 'resource', resource: { uri: url, mimeType, blob: data } }];
}

function cut({ body, headers }: Pick<Answer, 'headers' | 'body'>): string {
  const type = headers.get('content-type');
  if (body.byteLength <= TEXT_BYTES) return decodeText(body, type);
  // A character that the limit cuts in two is left out.
  return `${decodeText(body.subarray(0, TEXT_BYTES), type).replace(/\ufffd$/, '')}\n... [truncated]`;
}

const typeOf = (headers: Headers): string => typeOnly(headers.get('content-type') ?? 'application/octet-stream');

const textOf = ({ headers, body }: Pick<Answer, 'headers' | 'body'>): string => decodeText(body, headers.get('content-type'));

function isText({ headers, body }: Pick<Answer, 'headers' | 'body'>): boolean {
  const type = typeOf(headers);
  if (isJson(type) || isTextType(type)) return true;
  return !headers.has('content-type') && !body.includes(0);
}

function jsonOf(answer: Answer): Json | undefined {
  if (!isJson(typeOf(answer.headers)) || answer.body.byteLength === 0) return undefined;
  try {
    return JsonValue.parse(parseExactJson(textOf(answer)));
  } catch {
    return undefined;
  }
}
