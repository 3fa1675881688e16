import type { Logger } from 'pino';

/** Logs when Redis begins to refuse writes because it cannot save them, and when it accepts them again. */
export function logDiskFault(logger: Pick<Logger, 'error' | 'info'>): (refusal: string | undefined) => void {
  return (refusal) => {
    if (refusal === undefined) logger.info('Redis writes to its disk again');
    else logger.error({ reason: refusal }, 'Redis cannot write to its disk, which may be full: calls wait; see the log of Redis');
  };
}
