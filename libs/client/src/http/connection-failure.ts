import type { ToolyardError } from '../toolyard-error.js';

/** Codes of temporary failures before any response: a broken connection, a busy name server. */
const PASSING: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'EAI_AGAIN']);

/**
 * True if a retry is useless: no connection is possible (refused, unknown host, wrong certificate, forbidden port) and nothing
 * has responded at this address before. Always false in browsers, which hide the reason of a failed `fetch`.
 */
export function isWrongAddress({ neverAnswered, cause }: ToolyardError): boolean {
  const reason = causeOf(cause);
  return neverAnswered && reason !== undefined && !PASSING.has(textIn(reason, 'code') ?? '');
}

/** Reason of a failed `fetch` in words. Node throws "fetch failed" and has the reason in `cause`. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  return textIn(cause, 'message') ?? textIn(cause, 'code') ?? textIn(error, 'message') ?? String(error);
}

/** Cause of an error. Not by class: an error may come from another realm. */
function causeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
}

function textIn(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const text: unknown = Reflect.get(value, name);
  return typeof text === 'string' && text !== '' ? text : undefined;
}
