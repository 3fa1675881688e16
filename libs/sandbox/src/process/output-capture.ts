import { StringDecoder } from 'node:string_decoder';

/**
 * Keeps the beginning of a stream as text, at most `limitBytes` of UTF-8, and counts the rest. A character that is split
 * over chunks is put together, invalid bytes become U+FFFD, and the cut falls between characters.
 */
export class OutputCapture {
  private readonly decoder = new StringDecoder('utf8');
  private readonly pieces: string[] = [];
  private keptBytes = 0;
  private seenBytes = 0;
  private cut = false;

  constructor(
    private readonly limitBytes: number,
    private readonly onText: (text: string, cut: boolean) => void,
  ) {}

  /** All bytes that came, kept or not. */
  get bytes(): number {
    return this.seenBytes;
  }

  /** Output was left out because the limit was reached. */
  get truncated(): boolean {
    return this.cut;
  }

  get text(): string {
    return this.pieces.join('');
  }

  accept(chunk: Buffer): void {
    this.seenBytes += chunk.length;
    if (!this.cut) this.keep(this.decoder.write(chunk));
  }

  /** No more comes: a character that was never completed shows as U+FFFD. */
  end(): void {
    if (!this.cut) this.keep(this.decoder.end());
  }

  private keep(text: string): void {
    const fitting = cutToBytes(text, this.limitBytes - this.keptBytes);
    this.cut = fitting.length < text.length;
    if (fitting === '' && !this.cut) return;
    this.keptBytes += Buffer.byteLength(fitting);
    this.pieces.push(fitting);
    this.onText(fitting, this.cut);
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
