import { STATUS_CODES } from 'node:http';
import { NOTE_SEPARATOR, type Result } from '#contracts';
import { untagged } from '#redaction';
import type { HookFeedback } from './attempt-result.js';
import { errorMessage, errorMessageIn } from './error-message.js';

const NOTE_CHARS = 200;

/**
 * Why a result is an error, in a line: how the program ended and its last words (`exit 2 · missing semicolon`, `signal
 * SIGSEGV`), what a hook had against it, the status and message of an HTTP answer (`404: no such pet`), the message of
 * an error in JSON, or the first line of its text. At most 200 characters; undefined for a result without text. The mark of content from outside is no part.
 */
export function noteOf(result: Result, feedback?: HookFeedback): string | undefined {
  if (!result.isError) return firstLine(feedback?.text?.split('\n').slice(1).join('\n'));
  const { exitCode, signal, status, errorLine } = result.details ?? {};
  const said = typeof errorLine === 'string' && errorLine.trim() !== '' ? `${NOTE_SEPARATOR}${errorLine.trim()}` : '';
  if (typeof signal === 'string') return firstLine(`signal ${signal}${said}`);
  if (typeof exitCode === 'number' && exitCode !== 0) return firstLine(`exit ${exitCode}${said}`);
  const text = textOf(result);
  if (typeof status === 'number') return firstLine(statusNote(status, text, result.structuredContent));
  return firstLine(errorMessageIn(text) ?? text);
}

/** An answer of an HTTP API: its body is below the first empty line of the text. */
function statusNote(status: number, text: string, structured: Result['structuredContent']): string {
  const body = /\n\n(?:Response Body:\n)?([^]*)/.exec(text)?.[1] ?? '';
  // A page for browsers begins with markup.
  const line = body.trimStart().startsWith('<') ? '' : body;
  const message = (errorMessage(structured) ?? errorMessageIn(body) ?? line).trim();
  return message === '' ? `${status} ${STATUS_CODES[status] ?? ''}` : `${status}: ${message}`;
}

function textOf({ content, provenance }: Result): string {
  const own = provenance === undefined ? content : untagged(content, provenance.origin);
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
