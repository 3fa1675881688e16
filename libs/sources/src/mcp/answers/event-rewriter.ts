import type { AnswerReader, RequestId } from './answer-reader.js';

const LINE_END = /\r\n|\n|\r/;

export interface RewriterOptions {
  readonly answers: AnswerReader;
  /** Of the request that the stream answers, where its answer is the result of a tool. */
  readonly id: RequestId | undefined;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * The event stream of a server with its messages as `AnswerReader` reads them. Where it ends, breaks or grows too large
 * before the answer to `id`, and has no event id to go on from, an error of the server ends it: the call would wait for
 * an answer until its deadline.
 */
export async function* rewrittenEvents(body: AsyncIterable<Uint8Array>, options: RewriterOptions): AsyncGenerator<Uint8Array> {
  const { answers, id, signal } = options;
  const events = new EventReader(options);
  const bytes = (text: string) => new TextEncoder().encode(text);
  let why = 'its event stream ended without it';
  try {
    for await (const chunk of body) {
      const text = events.take(chunk);
      if (text !== '') yield bytes(text);
    }
    yield bytes(events.end());
  } catch (error) {
    if (signal?.aborted === true || id === undefined || events.isResumable || !answers.isWaiting(id)) throw error;
    why = error instanceof RangeError ? error.message : 'its event stream broke off';
  }
  if (id !== undefined && !events.isResumable && answers.isWaiting(id))
    yield bytes(`data: ${JSON.stringify(answers.unreadable(id, why))}\n\n`);
}

class EventReader {
  isResumable = false;
  private readonly decoder = new TextDecoder();
  /** Of the line that has not ended. */
  private pieces: string[] = [];
  /** Of the event that has not ended. */
  private data: string[] = [];
  private size = 0;

  constructor(private readonly options: Pick<RewriterOptions, 'answers' | 'maxBytes'>) {}

  /** What is complete by now. @throws RangeError for an event beyond the limit */
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
    this.pieces = [lines.pop() ?? ''];
    this.size = this.pieces.join('').length + this.data.join('').length;
    return lines.map((line) => this.line(line)).join('');
  }

  private line(line: string): string {
    if (line === '') {
      const message = this.data.length === 0 ? '' : `data: ${this.rewritten(this.data.join('\n'))}\n`;
      this.data = [];
      return `${message}\n`;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') this.data.push(value);
    if (field === 'id' && value !== '') this.isResumable = true;
    return field === 'data' ? '' : `${line}\n`;
  }

  /** What is no message is left to the client, which skips it. */
  private rewritten(data: string): string {
    try {
      return JSON.stringify(this.options.answers.read(data));
    } catch {
      return data.replaceAll('\n', '\ndata: ');
    }
  }
}
