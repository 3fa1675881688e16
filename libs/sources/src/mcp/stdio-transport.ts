import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { startProcess, type ProcessCommand, type RunningProcess } from '#sandbox';

/** A message of a server may take this much. */
export const MAX_MESSAGE_BYTES = 8_388_608;
const GRACE_MS = 2_000;
const STDERR_CHARACTERS = 2_000;

/** MCP over the standard input and output of a program in the sandbox. Closing ends its whole process tree. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  private readonly buffer = new ReadBuffer({ maxBufferSize: MAX_MESSAGE_BYTES });
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
    await new Promise<void>((resolve, reject) =>
      running.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve())),
    );
  }

  async close(): Promise<void> {
    await this.running?.stop();
    this.end();
  }

  /** What is no message is skipped; a message beyond the limit ends the program. */
  private accept(chunk: Buffer): void {
    try {
      this.buffer.append(chunk);
    } catch {
      this.ended = `it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`;
      this.onerror?.(new Error(this.ended));
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  private end(): void {
    if (this.closed) return;
    this.closed = true;
    this.buffer.clear();
    this.onclose?.();
  }
}
