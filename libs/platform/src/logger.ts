import type { LoggerService } from '@nestjs/common';
import { destination, pino, type Logger } from 'pino';
import { Redactor } from '#redaction';

export interface LoggerOptions {
  readonly level: string;
  /** Fields of every line: the app and the name of this process. */
  readonly base: Readonly<Record<string, string>>;
  /** Values that are redacted wherever they appear. */
  readonly secrets?: readonly string[] | undefined;
  /** Writes in the background: cheaper for a process that logs often; a crash loses the last lines. */
  readonly buffered?: boolean;
}

/**
 * One JSON line an entry on standard output. Keys, headers, tool arguments and results are never logged. Because an
 * error may hold anything, each line is redacted, too.
 */
export function createLogger({ level, base, secrets = [], buffered = false }: LoggerOptions): Logger {
  const redactor = Redactor.of({ values: secrets });
  const hooks = { streamWrite: (line: string) => redactor.text(line) };
  return pino({ level, hooks, base, timestamp: pino.stdTimeFunctions.isoTime }, destination({ dest: 1, sync: !buffered }));
}

/** Nest's own messages, through our logger. Its messages about the start are `debug`: `runService` reports a failed start. */
export function nestLogger(logger: Logger): LoggerService {
  const at =
    (level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...context: unknown[]) =>
      logger[context.some((part) => part === 'ExceptionHandler' || part === 'NestApplication') ? 'debug' : level](
        message instanceof Error ? { err: message, context } : { context },
        String(message),
      );
  return { log: at('debug'), verbose: at('trace'), debug: at('debug'), warn: at('warn'), error: at('error'), fatal: at('fatal') };
}
