import { hasMoreParts } from '#contracts';

/** Bytes at both ends of a message that are looked at. */
const SHOWN = 200;
/** A message that is longer than this times the limit has no end. */
const MOST = 8;

/** Members, items and containers of a message: more take time to read that other calls wait for. */
export const MAX_MESSAGE_PARTS = 100_000;
/** Same for a page of a list of tools, which is read seldom. */
export const MAX_LIST_PARTS = 250_000;

/** Begins the message of an answer that cannot be read; the reason follows. */
export const NO_ANSWER = 'The MCP server answered with what is no answer: ';

/** An id within the answer itself, not within its result; requests of the server have ids of their own. */
const FIRST =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"/;
const LAST = /,\s*"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")(?:\s*,\s*"jsonrpc"\s*:\s*"2\.0")?\s*\}\s*$/;
const ANSWER = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"/;
const NOTIFICATION = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:\s*"notifications\//;

/** JSON text of the id that a message answers, by its beginning and its end. */
export function answeredId(first: string, last: string): string | undefined {
  return (ANSWER.test(first) ? LAST.exec(last.slice(-SHOWN)) : FIRST.exec(first.slice(0, SHOWN)))?.[1];
}

export const hasTooManyParts = (text: string): boolean => hasMoreParts(text, MAX_MESSAGE_PARTS);
export const TOO_MANY_PARTS = `it sent a message of more than ${MAX_MESSAGE_PARTS} members and items, or ${MAX_LIST_PARTS} of a list of tools`;

/** True for text with the beginning of a notification. */
export const isNotification = (text: string): boolean => NOTIFICATION.test(text);

/** A message beyond the limit, of which only the ends are kept. */
export class LargeMessage {
  private readonly first: string;
  private last: Buffer;
  private size: number;

  /** @throws RangeError for what is no message */
  constructor(
    bytes: Buffer,
    private readonly maxBytes: number,
  ) {
    this.first = bytes.subarray(0, SHOWN).toString();
    this.last = bytes.subarray(-SHOWN);
    this.size = bytes.length;
    if (!/^\s*\{/.test(this.first)) throw this.fault;
  }

  /** @throws RangeError for one without an end */
  add(piece: Uint8Array): void {
    this.size += piece.length;
    this.last = Buffer.concat([this.last, piece.subarray(-SHOWN)]).subarray(-SHOWN);
    if (this.size > MOST * this.maxBytes) throw this.fault;
  }

  /** The error that is read in its place; null in that of a notification. @throws RangeError for one whose id does not show */
  get text(): string {
    if (isNotification(this.first)) return 'null';
    const id = answeredId(this.first, this.last.toString());
    if (id === undefined) throw this.fault;
    const message = JSON.stringify(`${NO_ANSWER}${this.fault.message}`);
    return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":${message}}}`;
  }

  private get fault(): RangeError {
    return new RangeError(`it sent a message of more than ${this.maxBytes} bytes`);
  }
}
