import { createRequire } from 'node:module';
import type * as PinoPretty from 'pino-pretty';
import { escapeInvisibleText } from '#redaction';

/** Formats a line of the log for people, in one line. */
export type PrettyLine = (json: string) => string;

/**
 * Formats lines as `20:54:06 WARN: gateway: the message {"field":1}`. Loads pino-pretty, which a process with JSON output does
 * not need. Texts may come from tools: line breaks become `↵`, invisible characters are escaped.
 */
export function prettyLines(withColors: boolean): PrettyLine {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a module is loaded without its types
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty;
  const print = prettyFactory({
    colorize: withColors,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    messageFormat: '{app}: {msg}',
    ignore: 'app,name,worker,pid,hostname',
    errorLikeObjectKeys: [],
  });
  return (json) => print(parsed(json));
}

/** Parses a line; redaction may have broken the JSON, which then becomes the message. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json, (_key, value: unknown) => readable(value));
  } catch {
    return { msg: readable(json.trimEnd()) };
  }
}

function readable(value: unknown): unknown {
  if (typeof value === 'string') return escapeInvisibleText(value.replaceAll(/\r?\n/g, ' ↵ '));
  return isLoggedError(value) ? `${value.type}: ${value.message}` : value;
}

/** True for an error in pino's form. */
function isLoggedError(value: unknown): value is { readonly type: string; readonly message: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && 'type' in value && 'message' in value;
}
