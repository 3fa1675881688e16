import { JsonEnd } from './json-end.js';
import { hasTooManyParts, LargeMessage } from './large-message.js';
import { isJson, readJson } from './lenient-json.js';

const NEWLINE = 10;
const LINE_END = Buffer.from('\n');
const LENGTH = /^content-length:\s*(\d{1,9})\s*$/i;
/** Beginning of a message that may continue after a line end. */
const BEGINNING = /^\s*[{[]/;
/** Line with which a message begins that is written over several lines. */
const OPENING = /^\s*[{[]\s*$/;
/** First line of a message, up to a line end in one of its texts that is not escaped. */
const CUT = /^\{\s*"(?:jsonrpc|id|result)"\s*:/;
const FIELD = /^[\w-]+:/;

/**
 * Splits what a program writes into its messages, one a line. After a header that says how long it is, as language servers
 * write one, a message may have line ends, and lack the last one; its brackets say where it ends.
 */
export class MessageLines {
  hasHeaders = false;
  private pieces: Uint8Array[] = [];
  private size = 0;
  /** Replaces the pieces, once they are too large. */
  private large: LargeMessage | undefined;
  /** Length in the header in progress. */
  private length = 0;
  /** Bytes that the message after a header still has. */
  private left = 0;
  /** End of the JSON text after a header; undefined if it is not JSON. */
  private json: JsonEnd | undefined;
  /** True for a message with line ends, which continues to its last bracket, at most to the end of its frame. */
  private isSpread = false;
  /** Pieces of the last line of a message over several lines without a header; undefined outside of one. */
  private line: Uint8Array[] | undefined;

  constructor(private readonly maxBytes: number) {}

  /**
   * The lines that are complete by now, without headers. An error is in the place of an answer beyond the limit.
   * @throws RangeError for any other line beyond it
   */
  *take(chunk: Uint8Array): Generator<string> {
    for (let start = 0; start < chunk.length;) {
      const newline = this.isSpread && this.line === undefined ? -1 : chunk.indexOf(NEWLINE, start);
      const frameEnd = this.left === 0 ? Infinity : start + this.left;
      const lineEnd = Math.min(newline === -1 ? chunk.length : newline, frameEnd);
      const closing = this.left === 0 ? undefined : this.json?.find(chunk.subarray(start, lineEnd));
      const end = closing === undefined ? lineEnd : start + closing;
      this.add(chunk.subarray(start, end));
      this.left = Math.max(0, frameEnd === Infinity ? 0 : frameEnd - end);
      start = end;
      if (closing !== undefined || end === frameEnd) yield* this.takenOfFrame();
      else if (end === newline) {
        start += 1;
        if (this.line !== undefined) {
          yield* this.lineOfSpread();
          continue;
        }
        if (this.left === 0 && (this.size <= 3 ? OPENING.test(this.text) : this.isCut)) {
          this.openFrame(this.maxBytes - this.size);
          this.line = [];
        }
        // Looked at once in a frame: a second look at each line would take longer the more there are.
        this.isSpread = this.left > 1 && this.json !== undefined && BEGINNING.test(this.text);
        if (this.isSpread) {
          this.add(chunk.subarray(newline, start));
          this.left -= 1;
          this.line &&= [];
          continue;
        }
        this.left = 0;
        this.line = undefined;
        const line = this.taken();
        if (!this.isHeader(line)) yield line;
      }
    }
  }

  /** The last line, which some programs do not end. */
  rest(): string {
    return this.taken();
  }

  /** @throws RangeError for what is too large and no message */
  private add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (this.large !== undefined) return this.large.add(piece);
    this.line?.push(piece);
    this.pieces.push(piece);
    this.size += piece.length;
    if (this.size <= this.maxBytes) return;
    this.large = new LargeMessage(Buffer.concat(this.pieces), this.maxBytes);
    this.pieces = [];
  }

  private get text(): string {
    return this.large === undefined ? Buffer.concat(this.pieces).toString() : this.large.text;
  }

  /** Looks at the last characters first: complete messages are not read twice. */
  private get isCut(): boolean {
    const end = Buffer.concat(this.pieces.slice(-2).map((piece) => piece.subarray(-2))).toString('latin1');
    if (end.trimEnd().endsWith('}') || !CUT.test(this.text)) return false;
    return new JsonEnd().find(Buffer.from(this.text)) === undefined;
  }

  private openFrame(bytes: number): void {
    this.left = bytes;
    this.json = new JsonEnd();
    this.json.find(Buffer.from(this.text));
  }

  /** Ends a message over several lines at a line that is a message itself: a bracket of a log is closed by nothing. */
  private *lineOfSpread(): Generator<string> {
    const line = Buffer.concat(this.line ?? []).toString();
    this.add(LINE_END);
    this.left -= 1;
    this.line = [];
    // Members of a message over several lines are on lines of their own.
    if (!line.startsWith('{') || !line.includes('"jsonrpc"') || !(hasTooManyParts(line) || isJson(line))) return;
    yield* this.takenLines();
    this.left = 0;
    this.closeSpread();
  }

  private closeSpread(): void {
    this.isSpread = false;
    this.json = undefined;
    this.line = undefined;
  }

  /** At its last bracket, or at the end that its header names. A length that is wrong counts for nothing: the line goes on. */
  private *takenOfFrame(): Generator<string> {
    if (isReadable(this.text)) {
      yield this.taken();
      this.left = 0;
    } else if (this.isSpread) yield* this.takenLines();
    this.closeSpread();
  }

  private taken(): string {
    const { text } = this;
    this.pieces = [];
    this.large = undefined;
    this.size = 0;
    return text;
  }

  /** The lines that are complete. */
  private takenLines(): readonly string[] {
    const lines = this.taken().split('\n');
    this.add(Buffer.from(lines.pop() ?? ''));
    return lines;
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
    if (line.trim() === '') this.openFrame(this.length);
    this.length = 0;
    return this.left > 0;
  }
}

/** True for text that `readJson` reads, and for a message with too many parts, which is not parsed here. */
function isReadable(text: string): boolean {
  try {
    if (!hasTooManyParts(text)) readJson(text);
    return true;
  } catch {
    return false;
  }
}
