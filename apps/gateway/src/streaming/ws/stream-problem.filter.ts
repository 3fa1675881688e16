import { Catch, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from 'pino';
import { withModelResult } from '../../platform/http/rejection.js';
import { toProblem } from '../../platform/http/to-problem.js';
import { LOGGER } from '../../platform/tokens.js';
import type { StreamRequest } from './stream-request.js';

/** Answers a failed frame with `error`, by the same mapping as HTTP. Logs an internal error, without details to the client. */
@Catch()
export class StreamProblemFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const { session, op, frameId } = host.switchToWs().getData<StreamRequest>();
    const problem = toProblem(error);
    if (problem.code === 'internal') this.log.error({ op, err: error }, 'a stream frame failed');
    session.sendError(frameId, op === 'submit' ? withModelResult(problem) : problem);
  }
}
