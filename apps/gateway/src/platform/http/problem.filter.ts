import { Catch, HttpException, Inject, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ProblemError } from '#contracts';
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
  if (problem.code === 'unauthenticated') reply.header('WWW-Authenticate', 'Bearer realm="toolyard"');
  if (problem.facts.retryAfterMs !== undefined)
    reply.header('Retry-After', String(Math.max(1, Math.ceil(problem.facts.retryAfterMs / 1000))));
  reply.status(problem.status).type('application/problem+json; charset=utf-8');
  const shown = isSubmission(request) ? withModelResult(problem) : problem;
  reply.send(JSON.stringify(shown.toProblem(`urn:toolyard:request:${request.id}`)));
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
