import { STATUS_CODES } from 'node:http';
import { NOTE_SEPARATOR, type Result } from '#contracts';
import { removeTag } from '#redaction';
import type { HookFeedback } from './attempt-result.js';

/** Fields with the message of an error, most specific first: RFC 9457, RFC 6749, JSON:API, and those of frameworks. */
const FIELDS = ['message', 'detail', 'error_description', 'error', 'title', 'msg', 'errors'];
const DEEPEST = 4;

/** The message of an error in JSON, such as `{"error":{"message":"no such pet"}}`; undefined if no field has one. */
function errorMessage(value: unknown, depth = 0): string | undefined {
  if (depth > 0 && typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return errorMessage(value[0], depth + 1);
  for (const field of FIELDS) {
    const message: unknown = Object.hasOwn(value, field) ? errorMessage(Reflect.get(value, field), depth + 1) : undefined;
    if (typeof message === 'string') return message;
  }
  return undefined;
}

/** Message of an error in a JSON text; undefined for any other text. */
function errorMessageIn(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return errorMessage(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const NOTE_CHARS = 200;

/**
 * Reason why a result is an error, in a line: exit of the program and its last error line (`exit 2 · missing semicolon`,
 * `signal SIGSEGV`), objection of a hook, status and message of an HTTP answer (`404: no such pet`), message of an error in
 * JSON, or first line of the text. At most 200 characters, without the mark of external content; undefined for a result without
 * text.
 */
export function noteOf(result: Result, feedback?: HookFeedback): string | undefined {
  if (!result.isError) return firstLine(feedback?.text?.split('\n').slice(1).join('\n'));
  const { exitCode, signal, status, errorLine } = result.details ?? {};
  const errorSuffix = typeof errorLine === 'string' && errorLine.trim() !== '' ? `${NOTE_SEPARATOR}${errorLine.trim()}` : '';
  if (typeof signal === 'string') return firstLine(`signal ${signal}${errorSuffix}`);
  if (typeof exitCode === 'number' && exitCode !== 0) return firstLine(`exit ${exitCode}${errorSuffix}`);
  const text = textOf(result);
  if (typeof status === 'number') return firstLine(statusNote(status, text, result.structuredContent));
  return firstLine(errorMessageIn(text) ?? text);
}

/** Note of an HTTP answer, whose body is below the first empty line of the text. */
function statusNote(status: number, text: string, structured: Result['structuredContent']): string {
  const body = /\n\n(?:Response Body:\n)?([^]*)/.exec(text)?.[1] ?? '';
  // Markup means a page for browsers, which has no message.
  const line = body.trimStart().startsWith('<') ? '' : body;
  const message = (errorMessage(structured) ?? errorMessageIn(body) ?? line).trim();
  return message === '' ? `${status} ${STATUS_CODES[status] ?? ''}` : `${status}: ${message}`;
}

function textOf({ content, provenance }: Result): string {
  const own = provenance === undefined ? content : removeTag(content, provenance.origin);
  for (const item of own) {
    if (item.type === 'text') return item.text;
    if (item.type === 'json') return JSON.stringify(item.json);
  }
  return '';
}

function firstLine(text = ''): string | undefined {
  const line = text.trimStart().split('\n', 1)[0]?.trim() ?? '';
  if (line.length <= NOTE_CHARS) return line === '' ? undefined : line;
  return `${line.slice(0, NOTE_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
