import type { FastifyRequest } from 'fastify';

/** Headers that the protocol reads. Excludes the key, which the gateway has checked. */
const PROTOCOL_HEADERS = /^(?:accept|content-type|last-event-id|mcp-.*)$/;

/** Request for the SDK. Its parsed body is passed separately. `signal` aborts when the response is over. */
export function toWebRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && PROTOCOL_HEADERS.test(name)) headers.set(name, typeof value === 'string' ? value : value.join(', '));
  }
  return new Request('http://gateway/mcp', { method: request.method, headers, signal });
}
