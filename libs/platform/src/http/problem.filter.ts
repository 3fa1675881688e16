import { Catch, HttpException, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, type Problem } from '#contracts';

/** Part of a logger that the filter uses. */
export interface ErrorLog {
  error(facts: object, message: string): void;
}

/**
 * Answers every error as `application/problem+json`. An unexpected error is logged, and the answer has no details. Apps with
 * other errors or forms override `toProblem` and `send`.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly log: ErrorLog) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const problem = this.toProblem(error, request, reply);
    if (problem.code === 'internal') {
      const route = request.routeOptions.url;
      this.log.error({ requestId: request.id, method: request.method, route, err: causeOf(error) }, 'request failed');
    }
    this.send(reply, problem, request);
  }

  protected toProblem(error: unknown, _request: FastifyRequest, _reply: FastifyReply): ProblemError {
    if (error instanceof ProblemError) return error;
    if (error instanceof NotFoundException) return new ProblemError('resource_not_found', 'No such route');
    if (error instanceof HttpException && error.getStatus() < 500) return new ProblemError('invalid_request', 'The request is malformed');
    return new ProblemError('internal', 'Internal error; see the log of this process');
  }

  protected send(reply: FastifyReply, problem: ProblemError, _request: FastifyRequest): void {
    startProblem(reply, problem);
    sendProblemBody(reply, problem.toProblem());
  }
}

/** Sets status and `Retry-After` of a problem. */
export function startProblem(reply: FastifyReply, problem: ProblemError): void {
  const { retryAfterMs } = problem.facts;
  if (retryAfterMs !== undefined) reply.header('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  reply.status(problem.status);
}

export function sendProblemBody(reply: FastifyReply, body: Problem): void {
  reply.type('application/problem+json; charset=utf-8').send(JSON.stringify(body));
}

function causeOf(error: unknown): unknown {
  return error instanceof HttpException ? (error.cause ?? error) : error;
}
