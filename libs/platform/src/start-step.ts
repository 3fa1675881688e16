import { connectionHint } from './connection-hint.js';
import { StartupError } from './startup-error.js';

/** Time after which a line on standard error names the awaited step. */
const NOTICE_MS = 2_000;

type StartStep = <T>(doing: string, action: () => Promise<T>) => Promise<T>;

/**
 * Runs the steps of a start that need Redis, which the caller awaits one after the other. Each waits at most `timeoutMs` for
 * Redis; commands and connections of ioredis have no limit of their own.
 * @throws StartupError with the name of the step, if it takes longer or Redis refuses it; other errors unchanged
 */
export function startSteps(what: string, timeoutMs: number): StartStep {
  return async (doing, action) => {
    let timers: NodeJS.Timeout[] = [];
    const late = new Promise<never>((_resolve, reject) => {
      const seconds = `${timeoutMs / 1000} s`;
      const notice = () => process.stderr.write(`Redis does not answer any more (to ${doing}); waiting for it up to ${seconds}.\n`);
      const fail = () => reject(failure(what, doing, `no answer within ${seconds}`));
      timers = [setTimeout(notice, NOTICE_MS), setTimeout(fail, timeoutMs)];
    });
    try {
      return await Promise.race([action(), late]);
    } catch (error) {
      throw isFromRedis(error) ? failure(what, doing, error.message, error) : error;
    } finally {
      timers.forEach(clearTimeout);
    }
  };
}

function failure(what: string, doing: string, why: string, cause?: Error): StartupError {
  return new StartupError(`The ${what} cannot start: Redis did not let it ${doing} (${why}). ${connectionHint(why)}`, { cause });
}

/** Errors of ioredis: a refusal, a lost connection, an abandoned command, a cluster without an answer. */
const REDIS_ERRORS = new Set(['ReplyError', 'AbortError', 'InterruptError', 'MaxRetriesPerRequestError', 'ClusterAllFailedError']);
const LOST_CONNECTION = /Connection is closed|Stream isn't writeable|Cluster isn't ready|ECONN(REFUSED|RESET)|EPIPE|ETIMEDOUT/;

function isFromRedis(error: unknown): error is Error {
  return error instanceof Error && (REDIS_ERRORS.has(error.name) || LOST_CONNECTION.test(error.message));
}
