import { Catch, Inject, NotFoundException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ProblemError } from '#contracts';
import { ProblemFilter, sendProblemBody, startProblem } from '#platform';
import { publicUrlOf } from './public-url.js';
import { withModelResult } from './rejection.js';
import { toProblem } from './to-problem.js';
import { LOGGER } from '../tokens.js';

/** Maps the errors of the gateway to problems, and answers 405 for a path that has other methods. */
@Catch()
export class GatewayProblemFilter extends ProblemFilter {
  constructor(@Inject(LOGGER) log: Logger) {
    super(log);
  }

  protected override toProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): ProblemError {
    const allowed = error instanceof NotFoundException ? reply.server.routeTable.methodsOf(request.url) : [];
    return allowed.length > 0 ? wrongMethod(reply, allowed) : toProblem(error);
  }

  protected override send(reply: FastifyReply, problem: ProblemError, request: FastifyRequest): void {
    sendProblem(reply, problem, request);
  }
}

/** Sends a problem, also for errors outside Nest: framework errors before routing, and event streams. */
export function sendProblem(reply: FastifyReply, problem: ProblemError, request: FastifyRequest): void {
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const challenge = challengeOf(problem, request, reply);
  if (challenge !== undefined) reply.header('WWW-Authenticate', challenge);
  startProblem(reply, problem);
  if (problem.code === 'malformed_json' && isMcp(request)) return void reply.send(parseError(problem));
  const shown = isSubmission(request) ? withModelResult(problem) : problem;
  sendProblemBody(reply, shown.toProblem(`urn:toolyard:request:${request.id}`));
}

/** Challenge by RFC 6750. At the MCP endpoint it also names the metadata with the authorization servers (RFC 9728). */
function challengeOf({ code, detail }: ProblemError, request: FastifyRequest, reply: FastifyReply): string | undefined {
  if (code !== 'unauthenticated' && !(isMcp(request) && code === 'forbidden')) return undefined;
  // Omits the error for a request without credentials.
  const invalid = code === 'unauthenticated' && request.headers.authorization !== undefined ? ', error="invalid_token"' : '';
  if (!isMcp(request)) return `Bearer realm="toolyard"${invalid}`;
  const metadata = `resource_metadata="${publicUrlOf(request, reply.server.publicUrl)}/.well-known/oauth-protected-resource/mcp"`;
  const scope = /scope (\w+)/.exec(detail)?.[1];
  const error = code === 'unauthenticated' ? invalid : `, error="insufficient_scope"${scope === undefined ? '' : `, scope="${scope}"`}`;
  return `Bearer realm="toolyard", ${metadata}${error}`;
}

function isMcp({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url === '/mcp';
}

/** Body in JSON-RPC 2.0, which has an error code of its own for malformed JSON. */
function parseError({ detail }: ProblemError) {
  return { jsonrpc: '2.0', id: null, error: { code: -32_700, message: detail } };
}

function isSubmission({ method, routeOptions: { url } }: FastifyRequest): boolean {
  return method === 'POST' && (url === '/v1/calls' || url === '/v1/batches');
}

function wrongMethod(reply: FastifyReply, allowed: readonly string[]): ProblemError {
  reply.header('Allow', allowed.join(', '));
  return new ProblemError('method_not_allowed', `This path knows ${allowed.join(', ')} only`);
}
