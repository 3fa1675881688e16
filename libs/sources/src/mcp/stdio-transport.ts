import { serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { startProcess, type ProcessCommand, type RunningProcess } from '#sandbox';
import { withExactNumbers } from '#tool-sdk';
import { AnswerReader } from './answers/answer-reader.js';
import { MessageBudget, MessageFlood } from '../flood/message-budget.js';
import { metered } from '../flood/metered.js';

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
  private pieces: Uint8Array[] = [];
  private size = 0;
  private running: RunningProcess | undefined;
  private stderr = '';
  private closed = false;

  constructor(
    private readonly command: ProcessCommand,
    private readonly budget = new MessageBudget(),
  ) {}

  async start(): Promise<void> {
    const running = await startProcess(this.command, GRACE_MS);
    this.running = running;
    const read = this.read(running.stdout);
    running.stderr.on('data', (chunk: Buffer) => (this.stderr = (this.stderr + chunk.toString()).slice(-STDERR_CHARACTERS)));
    void running.ended.then(async (how) => {
      this.ended ??= how;
      await read;
      this.end();
    });
  }

  /** How the program ended, for the operator; undefined while it runs. */
  ended: string | undefined;

  /** The last words of the program. */
  get lastWords(): string {
    return this.stderr.trim();
  }

  /** As `RunningProcess.takeCpuMs`. */
  takeCpuMs(): number | undefined {
    return this.running?.takeCpuMs();
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

  /** Never rejects: a pipe that breaks ends with its program. */
  private async read(stdout: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const chunk of metered(stdout, this.budget)) await this.accept(chunk);
      // The last line, which some programs do not end.
      if (this.size > 0) this.line(this.taken());
      await Promise.resolve();
    } catch (error) {
      if (error instanceof MessageFlood) this.overflow(error.message);
    }
  }

  /** A message beyond the limit ends the program, after the calls under way: one of them was answered, so none may run again. */
  private async accept(chunk: Uint8Array): Promise<void> {
    for (let start = 0; start < chunk.length && !this.closed;) {
      const end = chunk.indexOf(NEWLINE, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      start += piece.length + 1;
      this.pieces.push(piece);
      this.size += piece.length;
      if (this.size > MAX_MESSAGE_BYTES) return this.overflow(`it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`);
      if (end === -1) continue;
      this.line(this.taken());
      // The client handles notifications a moment later: without it, a result would end its call before the progress that came first.
      await Promise.resolve();
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

  private overflow(why: string): void {
    this.pieces = [];
    this.ended = why;
    this.onerror?.(new Error(why));
    for (const id of this.answers.waiting) this.onmessage?.(this.answers.unreadable(id, why));
    void this.close();
  }

  private end(): void {
    if (this.closed) return;
    this.closed = true;
    this.onclose?.();
  }
}
