import { AddressFault } from './address-fault.js';

const DEPTH = 5;

/**
 * The message of an error with those of its causes: `fetch` says "fetch failed" alone, and why in its cause. Of an address that does
 * not answer only the sentence that names it.
 */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  let text = error.message;
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth <= DEPTH; { cause } = cause, depth += 1) {
    if (cause instanceof AddressFault) return cause.message;
    // Refused at each address of a name: an AggregateError without a message.
    const said = cause.message || ('code' in cause ? String(cause.code) : '');
    if (!text.includes(said)) text = `${text}: ${said}`;
  }
  return text;
}
