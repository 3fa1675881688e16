import { Catch, HttpException, Inject, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ProblemError } from '#contracts';
import { publicUrlOf } from './public-url.js';
import { withModelResult } from './rejection.js';
import { toProblem } from './to-problem.js';
import { LOGGER } from '../tokens.js';

/** Answers every error as `application/problem+json`. An unforeseen error is logged, and the answer has no details. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const allowed = error instanceof NotFoundException ? reply.server.routeTable.methodsOf(request.url) : [];
    const problem = allowed.length > 0 ? wrongMethod(reply, allowed) : toProblem(error);
    if (problem.code === 'internal') {
      this.log.error(
        { requestId: request.id, method: request.method, route: request.routeOptions.url, err: rootOf(error) },
        'request failed',
      );
    }
    sendProblem(reply, problem, request);
  }
}

/** Also for errors outside Nest: framework errors before routing, and event streams. */
export function sendProblem(reply: FastifyReply, problem: ProblemError, request: FastifyRequest): void {
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  const challenge = challengeOf(problem, request, reply);
  if (challenge !== undefined) reply.header('WWW-Authenticate', challenge);
  if (problem.facts.retryAfterMs !== undefined)
    reply.header('Retry-After', String(Math.max(1, Math.ceil(problem.facts.retryAfterMs / 1000))));
  reply.status(problem.status);
  if (problem.code === 'malformed_json' && isMcp(request)) return void reply.send(parseError(problem));
  reply.type('application/problem+json; charset=utf-8');
  const shown = isSubmission(request) ? withModelResult(problem) : problem;
  reply.send(JSON.stringify(shown.toProblem(`urn:toolyard:request:${request.id}`)));
}

/** RFC 6750. At the MCP endpoint it also names the metadata by which clients find out how to authenticate (RFC 9728). */
function challengeOf({ code, detail }: ProblemError, request: FastifyRequest, reply: FastifyReply): string | undefined {
  if (code !== 'unauthenticated' && !(isMcp(request) && code === 'forbidden')) return undefined;
  if (!isMcp(request)) return 'Bearer realm="toolyard"';
  const metadata = `resource_metadata="${publicUrlOf(request, reply.server.publicUrl)}/.well-known/oauth-protected-resource/mcp"`;
  const scope = /scope (\w+)/.exec(detail)?.[1];
  const error = code === 'unauthenticated' ? '' : `, error="insufficient_scope"${scope === undefined ? '' : `, scope="${scope}"`}`;
  return `Bearer realm="toolyard", ${metadata}${error}`;
}

function isMcp({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url === '/mcp';
}

/** JSON-RPC 2.0 has an error of its own for a body that is not JSON. */
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

function rootOf(error: unknown): unknown {
  return error instanceof HttpException ? (error.cause ?? error) : error;
}
