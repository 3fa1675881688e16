import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import type { McpSourceDefinition } from '#contracts';
import { NO_ANSWER } from './answers/large-message.js';

const PATH = 'is the path right?';
/** Statuses of a server that has nothing at the address, or no such method there. */
const NOT_THERE = new Set([404, 405, 410, 501]);

/** Why a server over HTTP was not opened, in words for the operator; undefined where the error says it. Names the address without its query. */
export function openFault(error: unknown, { url, headers, auth }: McpSourceDefinition): string | undefined {
  if (url === undefined) return undefined;
  const { origin, pathname } = new URL(url);
  const address = `${origin}${pathname}`;
  if (error instanceof SdkHttpError) {
    const { status } = error;
    const given = headers !== undefined || auth !== undefined;
    if (status === 401)
      return `${address} requires authorization (HTTP 401)${given ? ' and refuses the credentials of the source' : ': give the source `headers` or `auth`'}`;
    if (status === 403) return `${address} denies access (HTTP 403): may the credentials of the source use it?`;
    if (NOT_THERE.has(status)) return `${address} is no MCP server (HTTP ${status}): ${PATH}`;
    return `${address} answered with HTTP ${status}: ${error.message}`;
  }
  if (error instanceof ProtocolError && error.message.includes(NO_ANSWER)) {
    const why = error.message.slice(error.message.indexOf(NO_ANSWER) + NO_ANSWER.length);
    return `${address} is no MCP server (${why}): ${PATH}`;
  }
  return isTimeout(error) ? `No answer in time from ${address}: does the server hang?` : undefined;
}

function isTimeout(error: unknown): boolean {
  if (error instanceof SdkError) return error.code === SdkErrorCode.RequestTimeout;
  return error instanceof DOMException && error.name === 'TimeoutError';
}
