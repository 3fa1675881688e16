import { Injectable } from '@nestjs/common';
import { isLegacyRequest, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal, Scope } from '#contracts';
import { telemetry } from '#observability';
import { assertScope } from '../auth/access.js';
import { OpenSockets } from '../auth/open-sockets.service.js';
import { jsonRpcError, NO_MESSAGE } from './wire/json-rpc-error.js';
import { ModernEndpoint } from './endpoints/modern-endpoint.service.js';
import { factsOf, MAX_ID_CHARS } from './wire/message-facts.js';
import { sendWebResponse } from './wire/send-web-response.js';
import { LegacyEndpoint } from './endpoints/legacy-endpoint.service.js';

/** Headers that the protocol reads. Excludes the key, which the gateway has checked. */
const PROTOCOL_HEADERS = /^(?:accept|content-type|last-event-id|mcp-.*)$/;

/** Request for the SDK. Its parsed body is passed separately. `signal` aborts when the response is over. */
function toWebRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && PROTOCOL_HEADERS.test(name)) headers.set(name, typeof value === 'string' ? value : value.join(', '));
  }
  return new Request('http://gateway/mcp', { method: request.method, headers, signal });
}

/** Scopes that methods need in addition to the route's. */
const SCOPES: Readonly<Record<string, Scope>> = { 'tools/call': 'submit', 'tasks/cancel': 'cancel' };
const METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'subscriptions/listen',
  'notifications/initialized',
  'notifications/cancelled',
]);

const LONG_ID = `Expected an id and a progressToken of at most ${MAX_ID_CHARS} characters`;

/**
 * One HTTP request to `/mcp`. Steps: check the message and the key's scope → check the number of open streams →
 * `ModernEndpoint` or `LegacyEndpoint`, by revision → the response.
 */
@Injectable()
export class McpEndpoint {
  constructor(
    private readonly modern: ModernEndpoint,
    private readonly legacy: LegacyEndpoint,
    private readonly openSockets: OpenSockets,
  ) {}

  /** @throws ProblemError `forbidden` without the scope of the method, `too_many_requests` if too many streams are open */
  async handle(principal: Principal, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { body } = request;
    const { method, isStream, hasLongId } = factsOf(body);
    const scope = method === undefined || !Object.hasOwn(SCOPES, method) ? undefined : SCOPES[method];
    if (scope !== undefined) assertScope(principal, scope);
    if (hasLongId) return sendWebResponse(reply, jsonRpcError(400, ProtocolErrorCode.InvalidRequest, LONG_ID));
    if (request.method === 'GET' || isStream) {
      const place = this.openSockets.open(request.raw, principal);
      reply.raw.once('close', () => place.release());
    }
    const { response, protocol } = await this.respond(principal, toWebRequest(request, closeSignal(reply)), body);
    const label = method === undefined ? request.method.toLowerCase() : METHODS.has(method) ? method : 'other';
    telemetry.mcpRequest.emit({ protocol, method: label, outcome: response.ok ? 'ok' : 'refused' });
    await sendWebResponse(reply, response);
  }

  private async respond(principal: Principal, request: Request, body: unknown) {
    if (request.method === 'POST' && (typeof body !== 'object' || body === null))
      return { protocol: 'none', response: jsonRpcError(400, ProtocolErrorCode.InvalidRequest, NO_MESSAGE) } as const;
    if (await isLegacyRequest(request, body))
      return { protocol: '2025-11-25', response: await this.legacy.handle(principal, request, body) } as const;
    return { protocol: '2026-07-28', response: await this.modern.handle(principal, request, body) } as const;
  }
}

/** Aborts when the response is over, complete or not: its work then ends. */
function closeSignal({ raw }: FastifyReply): AbortSignal {
  const over = new AbortController();
  if (raw.destroyed) over.abort();
  else raw.once('close', () => over.abort());
  return over.signal;
}
