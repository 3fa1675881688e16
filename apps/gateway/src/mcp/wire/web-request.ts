import type { FastifyRequest } from 'fastify';

/** What the protocol reads of the headers. The key stays out: the gateway has checked it. */
const PROTOCOL_HEADERS = /^(?:accept|content-type|last-event-id|mcp-.*)$/;

/** The request as the SDK of the protocol takes it. Its body is passed beside it, parsed. `signal` aborts when the response is over. */
export function toWebRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && PROTOCOL_HEADERS.test(name)) headers.set(name, typeof value === 'string' ? value : value.join(', '));
  }
  return new Request('http://gateway/mcp', { method: request.method, headers, signal });
}
