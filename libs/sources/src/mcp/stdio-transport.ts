import { serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { startProcess, type ProcessCommand, type RunningProcess } from '#sandbox';
import { withExactNumbers } from '#tool-sdk';
import { AnswerReader } from './answers/answer-reader.js';
import { MessageLines } from './answers/message-lines.js';
import { MessageBudget } from '#timing';
import { meterStream } from '../flood/meter-stream.js';

/** A message of a server may take this much. */
export const MAX_MESSAGE_BYTES = 8_388_608;
const GRACE_MS = 2_000;
const STDERR_CHARACTERS = 2_000;

/** MCP over the standard input and output of a program in the sandbox. Closing ends its whole process tree. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly answers: AnswerReader;
  private readonly lines = new MessageLines(MAX_MESSAGE_BYTES);
  private hasSpoken = false;
  private running: RunningProcess | undefined;
  private stderr = '';
  private stopping = false;
  private closed = false;

  constructor(
    private readonly command: ProcessCommand,
    private readonly budget = new MessageBudget(),
  ) {
    this.answers = new AnswerReader(budget);
  }

  async start(): Promise<void> {
    const running = await startProcess(this.command, GRACE_MS);
    this.running = running;
    const read = this.read(running.stdout);
    running.stderr.on('data', (chunk: Buffer) => (this.stderr = (this.stderr + chunk.toString()).slice(-STDERR_CHARACTERS)));
    void running.ended.then(async (how) => {
      if (!this.stopping) this.ended ??= how;
      await read;
      this.end();
    });
  }

  /** How the program ended by itself, for the operator; undefined while it runs. */
  ended: string | undefined;

  /** The last words of the program. */
  get lastWords(): string {
    return this.stderr.trim();
  }

  /** Why nothing came of the program, for the operator; undefined once a message has come. */
  get silence(): string | undefined {
    if (this.hasSpoken || this.ended !== undefined) return undefined;
    const how = 'MCP has one JSON message a line, without headers, in both directions';
    return this.lines.hasHeaders ? `it writes Content-Length headers, as language servers do: ${how}` : `it wrote no message: ${how}`;
  }

  /** Same as `RunningProcess.takeCpuMs`. */
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
    this.stopping = true;
    await this.running?.stop();
    this.end();
  }

  /** Never rejects: a pipe that breaks ends with its program. */
  private async read(stdout: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const chunk of meterStream(stdout, this.budget)) await this.accept(chunk);
      this.line(this.lines.rest());
      await Promise.resolve();
    } catch (error) {
      // A message beyond the limit, or too many.
      if (error instanceof RangeError) this.overflow(error.message);
    }
  }

  private async accept(chunk: Uint8Array): Promise<void> {
    for (const line of this.lines.take(chunk)) {
      if (this.closed) return;
      this.line(line);
      // The client handles notifications a moment later: without it, a result would end its call before the progress that came first.
      await Promise.resolve();
    }
  }

  /** Reads the messages of a line; skips other lines. @throws RangeError for a line with too many parts, and beyond the budget */
  private line(line: string): void {
    try {
      for (const message of this.answers.read(line)) {
        this.hasSpoken = true;
        this.onmessage?.(message);
      }
    } catch (error) {
      if (error instanceof RangeError) throw error;
      if (!(error instanceof SyntaxError)) this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Ends the program, and each call under way as one that may have run: one of them was answered. */
  private overflow(why: string): void {
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
