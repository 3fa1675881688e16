import type { AnswerReader, RequestId } from './answer-reader.js';

const LINE_END = /\r\n|\n|\r/;
const FIRST_FIELD = /^\uFEFF?\s*(?:event|data|id|retry|):/;

export interface RewriterOptions {
  readonly answers: AnswerReader;
  /** Id of the request that the stream answers. */
  readonly id: RequestId | undefined;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | null | undefined;
  /** The event id from which the server goes on. */
  readonly resumedFrom?: string | undefined;
}

/** The data of the events in a text; the text itself where it is no event stream. */
export function eventData(text: string): string[] {
  if (!FIRST_FIELD.test(text)) return [text];
  const events = text.replace(/^\uFEFF/, '').split(/(?:\r\n|\n|\r){2,}/);
  return events
    .map((event) =>
      event
        .split(LINE_END)
        .flatMap((line) => /^data: ?(.*)$/s.exec(line)?.[1] ?? [])
        .join('\n'),
    )
    .filter(Boolean);
}

/**
 * The event stream of a server with its messages as `AnswerReader` reads them. A resumed stream begins with an empty event
 * that has the id `resumedFrom`, since the client would otherwise forget the id if the stream ends early. A stream that breaks,
 * or has a message too large, before the answer to `id` and before any event id, ends with an error as answer to `id`.
 */
export async function* rewrittenEvents(body: AsyncIterable<Uint8Array>, options: RewriterOptions): AsyncGenerator<Uint8Array> {
  const { answers, id, signal, resumedFrom } = options;
  const events = new EventReader(options);
  const bytes = (text: string) => new TextEncoder().encode(text);
  if (resumedFrom !== undefined) yield bytes(`id: ${resumedFrom}\ndata: \n\n`);
  try {
    for await (const chunk of body) {
      const text = events.take(chunk);
      if (text !== '') yield bytes(text);
    }
    yield bytes(events.end());
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    const goesOn = events.isResumable && !isTooLarge;
    if (signal?.aborted === true || id === undefined || goesOn || !answers.isWaiting(id)) throw error;
    const why = isTooLarge ? error.message : 'its event stream broke off';
    yield bytes(eventOf(answers.unreadable(id, why)));
  }
}

const eventOf = (message: object) => `data: ${JSON.stringify(message)}\n\n`;

class EventReader {
  isResumable = false;
  private readonly decoder = new TextDecoder();
  /** Pieces of the incomplete line. */
  private pieces: string[] = [];
  /** Data lines of the incomplete event. */
  private data: string[] = [];
  private dataSize = 0;
  private name = '';
  private size = 0;

  constructor(private readonly options: Pick<RewriterOptions, 'answers' | 'maxBytes'>) {}

  /** Rewritten complete lines so far. @throws RangeError for an event beyond the limit */
  take(chunk: Uint8Array): string {
    const text = this.decoder.decode(chunk, { stream: true });
    this.size += chunk.byteLength;
    const ends = LINE_END.test(text);
    if (!ends) this.pieces.push(text);
    const done = ends ? this.lines(text) : '';
    if (this.size > this.options.maxBytes) throw new RangeError(`a message of more than ${this.options.maxBytes} bytes`);
    return done;
  }

  /** The last event, which some servers do not end. */
  end(): string {
    return this.lines('\n\n');
  }

  private lines(text: string): string {
    const lines = (this.pieces.join('') + text).split(LINE_END);
    const rest = lines.pop() ?? '';
    this.pieces = [rest];
    const read = lines.map((line) => this.line(line)).join('');
    this.size = rest.length + this.dataSize;
    return read;
  }

  private line(line: string): string {
    if (line === '') {
      const data = this.data.join('\n');
      // An address and no message, in the transport of revision 2024-11-05.
      const isAddress = this.name === 'endpoint';
      const events = this.data.length === 0 ? '\n' : isAddress ? `event: endpoint\ndata: ${data}\n\n` : this.rewritten(data);
      this.data = [];
      this.dataSize = 0;
      this.name = '';
      return events;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') {
      this.data.push(value);
      this.dataSize += value.length;
    }
    if (field === 'event') this.name = value;
    if (field === 'id' && value !== '') this.isResumable = true;
    // The client reads no event with a name of its own.
    return field === 'data' || field === 'event' ? '' : `${line}\n`;
  }

  /** Events that are no messages keep their ids. @throws RangeError for one with too many parts, and beyond the budget */
  private rewritten(data: string): string {
    try {
      return this.options.answers.read(data).map(eventOf).join('') || 'data: \n\n';
    } catch (error) {
      if (error instanceof RangeError) throw error;
      return 'data: \n\n';
    }
  }
}
