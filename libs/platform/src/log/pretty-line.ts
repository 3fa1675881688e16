import { createRequire } from 'node:module';
import type * as PinoPretty from 'pino-pretty';
import { escapeInvisibleText } from '#redaction';

/** Turns a line of the log into one line for people. */
export type PrettyLine = (json: string) => string;

/**
 * `20:54:06 WARN: gateway: the message {"field":1}`. Loads pino-pretty, which a process that writes JSON never does.
 * Texts may come from tools: nothing in them moves a cursor, starts a line or hides.
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

/** Redaction may have cut through the JSON; then it is the message. */
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

/** What pino makes of an error. */
function isLoggedError(value: unknown): value is { readonly type: string; readonly message: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && 'type' in value && 'message' in value;
}
