import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Tracing } from '#observability';
import { parseTraceparent } from '../../platform/http/parse.js';

/** Traceparents of the requests in progress: a span that continues one of them was requested by HTTP. */
export type ActiveHttpTraces = Set<string>;

/**
 * Creates a server span for each request that changes something, and for others with a trace. Replaces the request's
 * `traceparent` by that span, which all readers of the header then continue. Skips streams, whose end is not meaningful.
 */
export function traceRequests(fastify: FastifyInstance, tracing: Tracing, open: ActiveHttpTraces): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url?.replaceAll('::', ':') ?? '';
    if (isTraced(request, route)) begin(tracing, open, request, reply, route);
    done();
  });
}

function isTraced({ method, headers }: FastifyRequest, route: string): boolean {
  if (!route.startsWith('/v1/') || (headers.accept ?? '').includes('text/event-stream')) return false;
  return method !== 'GET' || (headers['traceparent'] !== undefined && route !== '/v1/events');
}

function begin(tracing: Tracing, open: ActiveHttpTraces, request: FastifyRequest, { raw: response }: FastifyReply, route: string): void {
  const { method, headers } = request;
  const parent = headers['traceparent'];
  const span = tracing.start({
    name: `${method} ${route}`,
    kind: 'server',
    parent: typeof parent === 'string' ? parseTraceparent(parent) : undefined,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'url.path': request.url.split('?', 1)[0],
      'url.scheme': request.protocol,
      'network.protocol.version': request.raw.httpVersion,
    },
  });
  headers['traceparent'] = span.traceparent;
  open.add(span.traceparent);
  // Not `finish`: a client may disconnect before the response is complete.
  response.once('close', () => {
    open.delete(span.traceparent);
    if (!response.writableFinished) return span.end({ failed: { type: 'client_gone' } });
    span.set({ 'http.response.status_code': response.statusCode });
    span.end(response.statusCode >= 500 ? { failed: { type: String(response.statusCode) } } : {});
  });
}
