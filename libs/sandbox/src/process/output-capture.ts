import { StringDecoder } from 'node:string_decoder';

/** Of the end of a stream, at least so many UTF-16 units are kept, and fewer than twice as many. */
const TAIL_CHARS = 98_304;

export interface CapturedOutput {
  /** The beginning. */
  readonly text: string;
  /** The end, as far as `text` does not hold it. */
  readonly tail: string;
  /** All bytes that came, kept or not. */
  readonly bytes: number;
  /** More came than `text` holds. */
  readonly truncated: boolean;
  /** Some of it is in `tail` neither. */
  readonly hasGap: boolean;
}

/**
 * Keeps the beginning of a stream as text, at most `limitBytes` of UTF-8, and of what comes after it the end. A character
 * that is split over chunks is put together, invalid bytes become U+FFFD, and cuts fall between characters.
 */
export class OutputCapture {
  private readonly decoder = new StringDecoder('utf8');
  private readonly pieces: string[] = [];
  private keptBytes = 0;
  private bytes = 0;
  private tail = '';
  private hasGap = false;
  private isFull = false;

  /** `onText` gets the beginning as it comes; `cut`: it is the last piece, and more came. */
  constructor(
    private readonly limitBytes: number,
    private readonly onText: (text: string, cut: boolean) => void,
  ) {}

  /** Output was left out of the beginning because the limit was reached. */
  get truncated(): boolean {
    return this.isFull;
  }

  get captured(): CapturedOutput {
    const { tail, bytes, hasGap } = this;
    return { text: this.pieces.join(''), tail, bytes, truncated: this.isFull, hasGap };
  }

  accept(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.keep(this.decoder.write(chunk));
  }

  /** No more comes: a character that was never completed shows as U+FFFD. */
  end(): void {
    this.keep(this.decoder.end());
  }

  private keep(text: string): void {
    if (this.isFull) return this.keepTail(text);
    const fitting = cutToBytes(text, this.limitBytes - this.keptBytes);
    this.isFull = fitting.length < text.length;
    if (fitting === '' && !this.isFull) return;
    this.keptBytes += Buffer.byteLength(fitting);
    this.pieces.push(fitting);
    this.onText(fitting, this.isFull);
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
