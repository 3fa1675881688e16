import { StringDecoder } from 'node:string_decoder';
import type { TerminalScreen } from './terminal-screen.js';

/** Least stored UTF-16 units of the end of a stream; the most are twice as many. */
const TAIL_CHARS = 98_304;

export interface CapturedOutput {
  /** The beginning. */
  readonly text: string;
  /** The end, as far as `text` does not hold it. */
  readonly tail: string;
  /** All bytes that came, kept or not. */
  readonly bytes: number;
  /** The same of the text as a terminal shows it; `bytes` where it is kept as it came. */
  readonly shownBytes: number;
  /** More came than `text` holds. */
  readonly truncated: boolean;
  /** True if some output is not in `tail` either. */
  readonly hasGap: boolean;
}

/**
 * Stores the beginning of a stream as text, at most `limitBytes` of UTF-8, and the end of the rest. Joins characters that are
 * split over chunks; invalid bytes become U+FFFD, and cuts fall between characters. With a screen, stores its final content.
 */
export class OutputCapture {
  private readonly decoder = new StringDecoder('utf8');
  private readonly pieces: string[] = [];
  private keptBytes = 0;
  private bytes = 0;
  private shownBytes = 0;
  private seenBytes = 0;
  private tail = '';
  private hasGap = false;
  private isFull = false;
  private isSeen = false;

  /** `onText` gets the beginning immediately; `cut`: last piece, followed by more output. */
  constructor(
    private readonly limitBytes: number,
    private readonly onText: (text: string, cut: boolean) => void,
    private readonly screen?: Pick<TerminalScreen, 'push' | 'end'>,
  ) {}

  /** True if `onText` did not get all output because of the limit. */
  get truncated(): boolean {
    return this.isSeen;
  }

  get captured(): CapturedOutput {
    const { tail, bytes, hasGap, isFull } = this;
    const shownBytes = this.screen === undefined ? bytes : this.shownBytes;
    return { text: this.pieces.join(''), tail, bytes, shownBytes, truncated: isFull, hasGap };
  }

  accept(chunk: Buffer): void {
    this.bytes += chunk.length;
    const text = this.decoder.write(chunk);
    this.show(text);
    this.keep(this.screen === undefined ? text : this.screen.push(text));
  }

  /** No more comes: a character that was never completed shows as U+FFFD. */
  end(): void {
    const text = this.decoder.end();
    this.show(text);
    this.keep(this.screen === undefined ? text : this.screen.push(text) + this.screen.end());
  }

  private show(text: string): void {
    if (this.isSeen) return;
    const fitting = cutToBytes(text, this.limitBytes - this.seenBytes);
    this.isSeen = fitting.length < text.length;
    if (fitting === '' && !this.isSeen) return;
    this.seenBytes += Buffer.byteLength(fitting);
    this.onText(fitting, this.isSeen);
  }

  private keep(text: string): void {
    if (text === '') return;
    this.shownBytes += Buffer.byteLength(text);
    if (this.isFull) return this.keepTail(text);
    const fitting = cutToBytes(text, this.limitBytes - this.keptBytes);
    this.isFull = fitting.length < text.length;
    this.keptBytes += Buffer.byteLength(fitting);
    this.pieces.push(fitting);
    this.keepTail(text.slice(fitting.length));
  }

  private keepTail(text: string): void {
    this.tail += text;
    if (this.tail.length < 2 * TAIL_CHARS) return;
    this.hasGap = true;
    // Half a surrogate pair is no character.
    this.tail = this.tail.slice(-TAIL_CHARS).replace(/^[\uDC00-\uDFFF]/, '');
  }
}

/** The longest beginning of `text` that takes at most `bytes` bytes of UTF-8 and ends between characters. */
export function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const encoded = Buffer.from(text);
  let end = Math.max(bytes, 0);
  // A UTF-8 continuation byte is 10xxxxxx: step back to the start of the character that does not fit.
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return encoded.toString('utf8', 0, end);
}
