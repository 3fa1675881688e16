import { countParts } from '#contracts';
import { MessageBudget, MessageFlood } from '#timing';

/** Limits of a server's output, besides its budget. The worker parses it beside the calls of all tenants. */
const MOST_HEADER_BYTES = 4_096;
const MOST_MESSAGE_BYTES = 4 * 1_048_576;
const MOST_MESSAGE_PARTS = 200_000;
const HEADER_END = Buffer.from('\r\n\r\n');
const HEADER_LINE = /^(?<name>[A-Za-z-]+):(?<value>[ -~]*)$/;

/**
 * Counts messages on arrival. The library that decodes them searches a header that does not end again and again, keeps a
 * message of any length, and decodes one message a turn of the event loop while it keeps the others.
 */
export class IncomingLimits {
  private header = Buffer.alloc(0);
  private bodyBytes = 0;

  constructor(private readonly budget = new MessageBudget()) {}

  /** True for a server that was stopped because it sent too much in a second. */
  get isFlood(): boolean {
    return this.budget.exceeded !== undefined;
  }

  /** Reason to stop reading from the server; undefined within the limits. */
  accept(chunk: Buffer): string | undefined {
    try {
      this.budget.spend(0, chunk.length);
      return this.read(chunk);
    } catch (error) {
      if (error instanceof MessageFlood) return error.message;
      throw error;
    }
  }

  /** Parses a message. @throws RangeError for one with more members and items than a process should parse in a turn, or beyond the budget */
  parse(body: Uint8Array): unknown {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
    const parts = countParts(text, MOST_MESSAGE_PARTS);
    this.budget.spend(0, 0, parts);
    if (parts > MOST_MESSAGE_PARTS) throw new RangeError(`it sent a message of more than ${MOST_MESSAGE_PARTS} members and items`);
    return JSON.parse(text);
  }

  /** @throws MessageFlood */
  private read(chunk: Buffer): string | undefined {
    for (let rest = chunk; rest.length > 0;) {
      const body = Math.min(this.bodyBytes, rest.length);
      this.bodyBytes -= body;
      rest = rest.subarray(body);
      if (rest.length === 0) break;
      const known = this.header.length;
      this.header = Buffer.concat([this.header, rest.subarray(0, MOST_HEADER_BYTES)]);
      const end = this.header.indexOf(HEADER_END);
      if (end < 0) return this.header.length >= MOST_HEADER_BYTES ? 'it sent what is no message of the protocol' : undefined;
      rest = rest.subarray(end + HEADER_END.length - known);
      const fault = this.begin(this.header.toString('latin1', 0, end));
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  private begin(header: string): string | undefined {
    this.header = Buffer.alloc(0);
    this.budget.spend(1);
    const length = contentLength(header);
    if (length === undefined) return 'it sent what is no message of the protocol';
    this.bodyBytes = length;
    return this.bodyBytes > MOST_MESSAGE_BYTES ? `it sent a message of more than ${MOST_MESSAGE_BYTES / 1_048_576} MiB` : undefined;
  }
}

/**
 * Length by the header. Undefined if the library may read it differently: it accepts `0x10`, decodes bytes as 7 bits, and keeps
 * the last of equal names.
 */
function contentLength(header: string): number | undefined {
  const lines = header.split('\r\n').map((line) => HEADER_LINE.exec(line)?.groups);
  if (lines.includes(undefined)) return undefined;
  const [length, ...others] = lines.filter((line) => line?.['name']?.toLowerCase() === 'content-length');
  const value = length?.['value']?.trim() ?? '';
  return others.length === 0 && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
