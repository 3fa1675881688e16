import type { LoggerService } from '@nestjs/common';
import { destination, pino, type Logger } from 'pino';
import { Redactor } from '#redaction';

export const LOGGER = Symbol('LOGGER');

export type WorkerLog = Logger;

/**
 * JSON lines on standard output, written in the background. Arguments and results of tools are never logged; an error may
 * hold anything, so each line is redacted, too.
 */
export function createLogger(level: string, worker: string, secrets: readonly string[] = []): WorkerLog {
  const redactor = Redactor.of({ values: secrets });
  const hooks = { streamWrite: (line: string) => redactor.text(line) };
  return pino(
    { level, hooks, base: { app: 'worker', worker }, timestamp: pino.stdTimeFunctions.isoTime },
    destination({ dest: 1, sync: false }),
  );
}

/** Lets Nest's own messages go the same way; its boot chatter is `debug` here. */
export function nestLogger(logger: WorkerLog): LoggerService {
  const at =
    (level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...context: unknown[]) =>
      logger[level](message instanceof Error ? { err: message, context } : { context }, String(message));
  return { log: at('debug'), verbose: at('trace'), debug: at('debug'), warn: at('warn'), error: at('error'), fatal: at('fatal') };
}
