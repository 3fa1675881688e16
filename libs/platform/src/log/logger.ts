import type { LoggerService } from '@nestjs/common';
import { destination, pino, type Logger } from 'pino';
import { Redactor } from '#redaction';
import type { LogSettings } from './log-env.js';
import { prettyLines } from './pretty-line.js';

export interface LoggerOptions extends LogSettings {
  /** Fields of every line: app and name of this process. */
  readonly base: Readonly<Record<string, string>>;
  /** Values that are redacted wherever they appear. */
  readonly secrets?: readonly string[] | undefined;
  /** Enables writes in the background: cheaper for a process that logs often; a crash loses the last lines. */
  readonly buffered?: boolean;
}

/**
 * Logger with one line an entry on standard output: JSON, or text for people. Keys, headers, tool arguments and results are
 * never logged. Each line is redacted, too, since errors may contain anything.
 */
export function createLogger({ level, format, base, secrets = [], buffered = false }: LoggerOptions): Logger {
  // Includes the JSON form of secrets, with escaped quotes and backslashes.
  const redactor = Redactor.of({ values: [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))] });
  const onTerminal = process.stdout.isTTY;
  const pretty = isPretty(format, onTerminal) ? prettyLines(onTerminal && !process.env['NO_COLOR']) : undefined;
  const hooks = { streamWrite: (line: string) => (pretty === undefined ? redactor.text(line) : pretty(redactor.text(line))) };
  return pino({ level, hooks, base, timestamp: pino.stdTimeFunctions.isoTime }, destination({ dest: 1, sync: !buffered }));
}

function isPretty(format: LogSettings['format'], onTerminal: boolean): boolean {
  return format === 'auto' ? onTerminal && !process.env['CI'] : format === 'pretty';
}

/** Logger for Nest's own messages. Those about the start are `debug`: `runService` reports a failed start. */
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
