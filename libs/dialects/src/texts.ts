import type { Refusal } from './dialect.js';

/** Name of the first missing parameter, if that is the error. */
export function missingParameter({ errors = [] }: Pick<Refusal, 'errors'>): string | undefined {
  for (const { message } of errors) {
    const [, name] = /^missing '([^']+)' parameter/i.exec(message) ?? [];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Message without the prefix "Invalid arguments:". */
export function detailOf({ message }: Pick<Refusal, 'message'>): string {
  return message.replace(/^Invalid arguments:\s*/, '');
}

/** Message without the prefix "Denied by policy:". */
export function reasonOf({ message }: Pick<Refusal, 'message'>): string {
  return message.replace(/^Denied by policy: /, '');
}

/** Milliseconds as seconds, with a tenth where there is one. */
export const seconds = (ms: number): string => `${Math.round(ms / 100) / 10}s`;
