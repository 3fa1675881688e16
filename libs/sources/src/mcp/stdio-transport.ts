import { serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { startProcess, type ProcessCommand, type RunningProcess } from '#sandbox';
import { withExactNumbers } from '#tool-sdk';
import { AnswerReader } from './answers/answer-reader.js';

/** A message of a server may take this much. */
export const MAX_MESSAGE_BYTES = 8_388_608;
const GRACE_MS = 2_000;
const STDERR_CHARACTERS = 2_000;
const NEWLINE = 10;

/** MCP over the standard input and output of a program in the sandbox. Closing ends its whole process tree. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  private readonly answers = new AnswerReader();
  /** Of the line that has not ended. */
  private pieces: Buffer[] = [];
  private size = 0;
  private running: RunningProcess | undefined;
  private stderr = '';
  private closed = false;

  constructor(private readonly command: ProcessCommand) {}

  async start(): Promise<void> {
    const running = await startProcess(this.command, GRACE_MS);
    this.running = running;
    running.stdout.on('data', (chunk: Buffer) => this.accept(chunk));
    running.stderr.on('data', (chunk: Buffer) => (this.stderr = (this.stderr + chunk.toString()).slice(-STDERR_CHARACTERS)));
    void running.ended.then((how) => {
      this.ended = how;
      this.end();
    });
  }

  /** How the program ended, for the operator; undefined while it runs. */
  ended: string | undefined;

  /** The last words of the program. */
  get lastWords(): string {
    return this.stderr.trim();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { running } = this;
    if (running === undefined || this.closed) throw new Error('the program does not run');
    this.answers.sent(message);
    await new Promise<void>((resolve, reject) =>
      running.stdin.write(withExactNumbers(serializeMessage(message)), (error) => (error ? reject(error) : resolve())),
    );
  }

  async close(): Promise<void> {
    await this.running?.stop();
    this.end();
  }

  /** A message beyond the limit ends the program, after the calls under way: one of them was answered, so none may run again. */
  private accept(chunk: Buffer): void {
    for (let start = 0; start < chunk.length && !this.closed;) {
      const end = chunk.indexOf(NEWLINE, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      start += piece.length + 1;
      this.pieces.push(piece);
      this.size += piece.length;
      if (this.size > MAX_MESSAGE_BYTES) return this.overflow();
      if (end !== -1) this.line(this.taken());
    }
  }

  private taken(): string {
    const line = Buffer.concat(this.pieces).toString();
    this.pieces = [];
    this.size = 0;
    return line;
  }

  /** What is no message is skipped. */
  private line(line: string): void {
    try {
      for (const message of this.answers.read(line)) this.onmessage?.(message);
    } catch (error) {
      if (!(error instanceof SyntaxError)) this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private overflow(): void {
    this.pieces = [];
    this.ended = `it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`;
    this.onerror?.(new Error(this.ended));
    for (const id of this.answers.waiting) this.onmessage?.(this.answers.unreadable(id, this.ended));
    void this.close();
  }

  private end(): void {
    if (this.closed) return;
    this.closed = true;
    this.onclose?.();
  }
}
