import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import { Redactor } from '#redaction';

/** One JSON line an entry on standard output. Keys, headers and tool arguments are never logged; an error may hold anything, so each line is redacted, too. */
export function createLogger(level: string, name: string, secrets: readonly string[] = []): Logger {
  const redactor = Redactor.of({ values: secrets });
  return pino({
    level,
    hooks: { streamWrite: (line) => redactor.text(line) },
    base: { app: 'gateway', name },
    timestamp: pino.stdTimeFunctions.isoTime,
  });
}

/** Lets Nest's own messages go the same way. Its boot chatter, also about a start that fails, is `debug`: whoever started it tells that. */
export function nestLogger(logger: Logger): LoggerService {
  const at =
    (level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...context: unknown[]) =>
      logger[context.some((word) => word === 'ExceptionHandler' || word === 'NestApplication') ? 'debug' : level](
        message instanceof Error ? { err: message, context } : { context },
        String(message),
      );
  return { log: at('debug'), verbose: at('trace'), debug: at('debug'), warn: at('warn'), error: at('error'), fatal: at('fatal') };
}
