/** Bytes before the first mark that are kept, for the reason of a failure. */
const PREAMBLE_BYTES = 4_096;
/** A last line is far shorter. */
const TRAILER_BYTES = 256;

/**
 * Stream of a remote command: the content between the ready line and the line with the exit. Holds back a possible beginning of
 * the last line, since a chunk may end anywhere; likewise a line that begins like ssh's own message of a lost connection, which
 * has the address of the host, and is dropped if it is the last.
 */
export class MarkedStream {
  private before: Buffer = Buffer.alloc(0);
  private held: Buffer = Buffer.alloc(0);
  private end: Buffer | undefined;
  private isReady = false;

  constructor(
    private readonly readyLine: string,
    private readonly endMark: string | undefined,
    private readonly onOutput: (bytes: Buffer) => void,
    private readonly onReady: () => void,
    private readonly lostLines: readonly string[] = [],
  ) {}

  /** Content before the first line: the reason, if that line is missing. */
  get preamble(): string {
    return this.before.toString('utf8').slice(-PREAMBLE_BYTES);
  }

  /** Content of the last line; undefined until it is complete. */
  get trailer(): string | undefined {
    const text = this.end?.toString('latin1');
    return text?.endsWith('\n') ? text.slice(0, -1) : undefined;
  }

  accept(chunk: Buffer): void {
    if (!this.isReady) this.waitForReady(chunk);
    else if (this.end !== undefined) this.end = Buffer.concat([this.end, chunk]).subarray(0, TRAILER_BYTES);
    else this.pass(chunk);
  }

  /** No more comes. */
  finish(): void {
    const isLost = this.end === undefined && this.lostLines.some((words) => this.held.indexOf(words) === 0);
    if (this.held.length > 0 && !isLost) this.onOutput(this.held);
    this.held = Buffer.alloc(0);
  }

  private waitForReady(chunk: Buffer): void {
    this.before = Buffer.concat([this.before, chunk]);
    const line = `${this.readyLine}\n`;
    const at = this.before.indexOf(line);
    if (at < 0) {
      this.before = this.before.subarray(-PREAMBLE_BYTES);
      return;
    }
    const rest = this.before.subarray(at + line.length);
    this.before = this.before.subarray(0, at);
    this.isReady = true;
    this.onReady();
    if (rest.length > 0) this.pass(rest);
  }

  private pass(chunk: Buffer): void {
    if (this.endMark === undefined) return this.onOutput(chunk);
    const mark = `\n${this.endMark} `;
    const bytes = Buffer.concat([this.held, chunk]);
    const at = bytes.indexOf(mark);
    const until = at < 0 ? Math.min(bytes.length - overlap(bytes, mark), ...this.lostLines.map((words) => lastLineAt(bytes, words))) : at;
    if (at >= 0) this.end = bytes.subarray(at + mark.length).subarray(0, TRAILER_BYTES);
    this.held = at < 0 ? bytes.subarray(until) : Buffer.alloc(0);
    if (until > 0) this.onOutput(bytes.subarray(0, until));
  }
}

/** Start of the last line, if it begins with `words` or a part of them; otherwise the end. */
function lastLineAt(bytes: Buffer, words: string): number {
  const at = bytes.lastIndexOf(words);
  if (at < 0) return bytes.length - overlap(bytes, words);
  const end = bytes.indexOf('\n', at);
  return end < 0 || end === bytes.length - 1 ? at : bytes.length;
}

/** Number of bytes at the end of `bytes` that begin `mark`. */
function overlap(bytes: Buffer, mark: string): number {
  for (let length = Math.min(bytes.length, mark.length - 1); length > 0; length -= 1)
    if (bytes.subarray(-length).equals(Buffer.from(mark.slice(0, length)))) return length;
  return 0;
}
