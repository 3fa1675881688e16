import { Catch, HttpException, Inject, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ProblemError } from '#contracts';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';

/** Answers every error as `application/problem+json`, like the gateway. An unforeseen error is logged, without details to the client. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly log: WorkerLog) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const problem = problemOf(error);
    if (problem.code === 'internal') this.log.error({ err: error }, 'request failed');
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { retryAfterMs } = problem.facts;
    if (retryAfterMs !== undefined) reply.header('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
    reply.status(problem.status).type('application/problem+json; charset=utf-8');
    reply.send(JSON.stringify(problem.toProblem()));
  }
}

function problemOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof NotFoundException) return new ProblemError('resource_not_found', 'No such route');
  if (error instanceof HttpException && error.getStatus() < 500) return new ProblemError('invalid_request', 'The request is malformed');
  return new ProblemError('internal', 'Something went wrong inside; the log of the worker tells more');
}
