import type { Server, Socket } from 'node:net';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { countParts, LIMITS, ProblemError, ROUTES, WORKER_LIMITS } from '#contracts';
import { assertScope, requiredToken } from './auth/access.js';
import { Authenticator } from './auth/authenticator.service.js';
import { nestPath } from './auth/endpoint.decorator.js';
import { FairTurns, LARGE_SIZE } from './platform/fair-turns.service.js';
import { OriginPolicy } from './auth/origin-policy.service.js';
import type { GatewayConfig } from './platform/gateway.config.js';
import { handleClientError } from './platform/http/client-error.js';
import { parseJsonBody, type BodySize } from './platform/http/json-body.js';
import { LingeringResponse } from './platform/http/lingering-close.js';
import { toProblem } from './platform/http/to-problem.js';
import { sendProblem } from './platform/http/gateway-problem.filter.js';
import { RouteTable } from './platform/http/route-table.js';

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: RouteTable;
    /** Value of `GatewayConfig.publicUrl`. */
    publicUrl: string | undefined;
    /** All connections, including upgraded ones. */
    openSockets: ReadonlySet<Socket>;
  }
  interface FastifyRequest {
    /** Size of the JSON body of a worker; undefined for other requests. */
    workerBody: BodySize | undefined;
  }
}

/**
 * Security headers. Not `@fastify/helmet`: these five are fixed, and its defaults for web pages would have to be switched off
 * one by one.
 */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** Response headers readable by pages of allowed origins. The last three are for MCP clients. */
const EXPOSED_HEADERS = [
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Mcp-Session-Id',
  'MCP-Protocol-Version',
  'WWW-Authenticate',
];

/** Requests of workers, which carry results and schemas. */
const WORKERS_PATH = nestPath(ROUTES.registerWorker.path);
const OUTPUT_PATH = nestPath(ROUTES.putCallOutput.path);
const BUNDLES_PATH = nestPath(ROUTES.uploadBundle.path);

/** Timeout for the start of plugins. They only read files, but the default of 10 s is too short on an overloaded machine. */
const PLUGINS_START_MS = 60_000;

/** Time for a client to send a request. */
const REQUEST_ARRIVES_MS = 60_000;

/**
 * Adapter with the settings of the HTTP server. A request id is the name of this process and a count; it connects a response
 * with its log line.
 */
export function createHttpAdapter({ name }: GatewayConfig): FastifyAdapter {
  let requests = 0;
  return new FastifyAdapter({
    bodyLimit: LIMITS.bodyBytes,
    forceCloseConnections: 'idle',
    pluginTimeout: PLUGINS_START_MS,
    requestTimeout: REQUEST_ARRIVES_MS,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 256 },
    clientErrorHandler: handleClientError,
    http: { ServerResponse: LingeringResponse },
    skipMiddie: true,
    genReqId: () => `${name}-${(++requests).toString(36)}`,
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => sendProblem(reply, toProblem(error), request),
  });
}

/**
 * Handles every request before Nest, in this order: Host and Origin, security headers, body parsing. Must be called before
 * `app.init()`, because it records the routes as they are added.
 */
export function configureHttpServer(app: NestFastifyApplication, config: GatewayConfig): void {
  const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
  const origins = app.get(OriginPolicy);
  const table = new RouteTable();
  fastify.decorate('routeTable', table);
  fastify.decorate('publicUrl', config.publicUrl);
  fastify.decorate('openSockets', socketsOf(fastify.server));
  fastify.decorateRequest('workerBody', undefined);
  fastify.addHook('onRoute', (route) => {
    table.record(route);
    if (route.url === OUTPUT_PATH && route.method === 'PUT') takeLargeBodies(route, app.get(Authenticator));
  });

  fastify.addHook('onRequest', (request, reply, done) => {
    const refusal = origins.rejectionReason(request.headers);
    reply.headers(SECURITY_HEADERS);
    done(refusal === undefined ? undefined : new ProblemError('origin_refused', refusal));
  });
  if (config.allowedOrigins.length > 0) {
    app.enableCors({
      origin: [...config.allowedOrigins],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: 600,
    });
  }

  fastify.removeAllContentTypeParsers();
  const turns = app.get(FairTurns);
  fastify.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) => {
    const isOfWorker = request.routeOptions.url?.startsWith(WORKERS_PATH) === true;
    const mostParts = isOfWorker ? WORKER_LIMITS.jsonParts : LIMITS.jsonParts;
    const parse = () => {
      try {
        if (isOfWorker) request.workerBody = { bytes: Buffer.byteLength(text), parts: countParts(text, mostParts) };
        done(null, parseJsonBody(text, mostParts));
      } catch (error) {
        done(toProblem(error));
      }
    };
    if (text.length < LARGE_SIZE) parse();
    // By address: the tenant is not known before the body was read.
    else void turns.next(`from ${request.socket.remoteAddress}`).then(parse);
  });
  // Accepts texts only as outputs of workers: pages of any site may send them.
  fastify.addContentTypeParser<Buffer>('text/plain', { parseAs: 'buffer' }, (request, body, done) => {
    if (request.method === 'PUT' && request.routeOptions.url === OUTPUT_PATH) done(null, body);
    else done(unsupported(request));
  });
  // Not read here: the handler counts the bytes after the check of the key.
  fastify.addContentTypeParser('application/octet-stream', (request, body, done) => {
    if (request.method === 'POST' && request.routeOptions.url === BUNDLES_PATH) done(null, body);
    else done(unsupported(request));
  });
}

function unsupported({ routeOptions: { url } }: FastifyRequest): ProblemError {
  const expected = url === BUNDLES_PATH ? 'application/octet-stream' : url === OUTPUT_PATH ? 'text/plain' : 'application/json';
  return new ProblemError('unsupported_media_type', `Expected the header Content-Type: ${expected}`);
}

/** Only this route reads more than `LIMITS.bodyBytes`, and only for keys that may send it: guards run after the body was read. */
function takeLargeBodies(route: RouteOptions, authenticator: Authenticator): void {
  route.bodyLimit = WORKER_LIMITS.outputBytes;
  route.onRequest = async (request) => {
    const principal = await authenticator.identify(requiredToken(request.headers.authorization), request.raw.socket);
    assertScope(principal, 'work');
  };
}

function socketsOf(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}
