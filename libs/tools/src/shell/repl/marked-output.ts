import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type CapturedOutput, OutputCapture } from '#sandbox';

const KEPT_BYTES = 1_048_576;
/** Most characters of output written while no code runs, which is shown with the next code. */
const BETWEEN_CHARACTERS = 65_536;
/** An answer of a driver is shorter. */
const ANSWER_CHARACTERS = 1_048_576;
/** Reading discarded output must not block the event loop. */
const PACE_CHARACTERS = 1_048_576;
const PACE_REST_MS = 5;

export interface MarkedText {
  readonly output: CapturedOutput;
  /** Text between the last two marks; empty for a stream with one mark. */
  readonly answer: string;
}

/** Splits the output of a driver at its marks: output of code is passed on immediately, the response is stored separately. */
export class MarkedOutput {
  private readonly decoder = new StringDecoder('utf8');
  private buffer = '';
  private capture = new OutputCapture(KEPT_BYTES, () => undefined);
  private hasBegun = false;
  private isAnswer = false;
  private sinceRest = 0;
  private current:
    | {
        readonly mark: string;
        readonly onBegin: () => void;
        readonly resolve: (text: MarkedText) => void;
      }
    | undefined;

  /** `answers`: a first mark says that the code begins, the next one ends its output, the last one the answer behind it. */
  constructor(
    private readonly stream: Readable,
    private readonly answers: boolean,
  ) {
    stream.on('data', (chunk: Buffer) => this.accept(this.decoder.write(chunk)));
  }

  /** Resolves at the last mark. One call at a time. `onText` gets the output immediately. */
  until(nonce: string, onText: (text: string, cut: boolean) => void, onBegin: () => void = () => undefined): Promise<MarkedText> {
    const between = this.buffer;
    this.buffer = '';
    this.capture = new OutputCapture(KEPT_BYTES, onText);
    this.isAnswer = false;
    this.hasBegun = !this.answers;
    return new Promise((resolve) => {
      this.current = { mark: `\0${nonce}\0`, onBegin, resolve };
      this.accept(between);
    });
  }

  /** Output so far of code that does not end. */
  get captured(): CapturedOutput {
    return this.capture.captured;
  }

  private accept(text: string): void {
    this.pace(text.length);
    this.buffer += text;
    const { current } = this;
    if (current === undefined) {
      this.buffer = this.buffer.slice(0, BETWEEN_CHARACTERS);
      return;
    }
    const at = this.buffer.indexOf(current.mark);
    if (this.isAnswer) return this.finish(at);
    if (at === -1) {
      const held = heldBack(this.buffer, current.mark);
      this.emit(this.buffer.slice(0, this.buffer.length - held));
      this.buffer = this.buffer.slice(this.buffer.length - held);
      return;
    }
    this.emit(this.buffer.slice(0, at));
    this.buffer = this.buffer.slice(at + current.mark.length);
    if (!this.hasBegun) {
      this.hasBegun = true;
      current.onBegin();
      return this.accept('');
    }
    this.isAnswer = true;
    this.finish(this.answers ? this.buffer.indexOf(current.mark) : 0);
  }

  private finish(at: number): void {
    const { current } = this;
    if (current === undefined) return;
    if (at === -1) {
      if (this.buffer.length > ANSWER_CHARACTERS) this.buffer = '';
      return;
    }
    const answer = this.buffer.slice(0, at);
    this.buffer = this.buffer.slice(this.answers ? at + current.mark.length : 0);
    this.current = undefined;
    current.resolve({ output: this.captured, answer });
  }

  private emit(text: string): void {
    if (text !== '') this.capture.accept(Buffer.from(text));
  }

  private pace(length: number): void {
    this.sinceRest += this.capture.truncated ? length : 0;
    if (this.sinceRest < PACE_CHARACTERS) return;
    this.sinceRest = 0;
    this.stream.pause();
    setTimeout(() => this.stream.resume(), PACE_REST_MS);
  }
}

/** Number of characters at the end that may begin the mark. */
function heldBack(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}
