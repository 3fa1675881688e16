const NEWLINE = 10;
const LENGTH = /^content-length:\s*(\d{1,9})\s*$/i;
const FIELD = /^[\w-]+:/;

/**
 * Splits what a program writes into its messages, one a line. After a header that says how long it is, as language servers
 * write one, a message may lack its line end.
 */
export class MessageLines {
  hasHeaders = false;
  private pieces: Uint8Array[] = [];
  private size = 0;
  /** By the header under way. */
  private length = 0;
  /** Bytes that the message after a header still has. */
  private left = 0;

  constructor(private readonly maxBytes: number) {}

  /** The lines that are complete by now, without headers. @throws RangeError for a line beyond the limit */
  *take(chunk: Uint8Array): Generator<string> {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const frameEnd = this.left === 0 ? Infinity : start + this.left;
      const end = Math.min(newline === -1 ? chunk.length : newline, frameEnd);
      this.add(chunk.subarray(start, end));
      this.left = Math.max(0, frameEnd === Infinity ? 0 : frameEnd - end);
      start = end;
      if (end === frameEnd) {
        // A length that is wrong counts for nothing: the line goes on.
        if (isJson(this.text)) yield this.taken();
      } else if (end === newline) {
        start += 1;
        this.left = 0;
        const line = this.taken();
        if (!this.isHeader(line)) yield line;
      }
    }
  }

  /** The last line, which some programs do not end. */
  rest(): string {
    return this.taken();
  }

  private add(piece: Uint8Array): void {
    this.pieces.push(piece);
    this.size += piece.length;
    if (this.size > this.maxBytes) throw new RangeError(`it sent a message of more than ${this.maxBytes} bytes`);
  }

  private get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  private taken(): string {
    const { text } = this;
    this.pieces = [];
    this.size = 0;
    return text;
  }

  private isHeader(line: string): boolean {
    const named = LENGTH.exec(line)?.[1];
    if (named !== undefined) {
      this.length = Number(named);
      this.hasHeaders = true;
      return true;
    }
    if (this.length === 0) return false;
    if (FIELD.test(line)) return true;
    if (line.trim() === '') this.left = this.length;
    this.length = 0;
    return this.left > 0;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
