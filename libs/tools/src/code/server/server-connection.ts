import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CancellationTokenSource,
  createMessageConnection,
  Message,
  type MessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { ToolError } from '#tool-sdk';
import { IncomingLimits } from './incoming-limits.js';

/** Requests that a server makes in its life. */
const MOST_REQUESTS = 10_000;
const SHOWN_CHARACTERS = 300;

export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface ServerPipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

/**
 * JSON-RPC with a possibly hostile server. A violation of the protocol or its limits ends the connection: `onFault` gets the
 * reason once, with whether it sent too much, and all requests reject. Late or unrequested responses are dropped.
 */
export class ServerConnection {
  private readonly connection: MessageConnection;
  private readonly over = new AbortController();
  /** Aborted with a ToolError when the connection is over. */
  readonly ended = this.over.signal;
  private readonly stdout: Readable;
  private readonly limits = new IncomingLimits();
  private requests = 0;
  fault: string | undefined;

  constructor(
    private readonly name: string,
    { stdin, stdout }: ServerPipes,
    private readonly onFault: (why: string, isFlood: boolean) => void,
  ) {
    this.stdout = stdout;
    // Checks each chunk before the library reads it.
    stdout.on('data', (chunk: Buffer) => {
      const why = this.fault === undefined ? this.limits.accept(chunk) : undefined;
      if (why !== undefined) this.fail(why);
    });
    const reader = new StreamMessageReader(stdout, {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the connection checks what it gets
      contentTypeDecoder: { name: 'application/json', decode: async (body) => this.parsed(body) as Message },
    });
    reader.partialMessageTimeout = 0;
    reader.onError(() => this.fail('it sent what is no message of the protocol'));
    const silent = { error: () => {}, warn: () => {}, info: () => {}, log: () => {} };
    this.connection = createMessageConnection(reader, new StreamMessageWriter(stdin), silent, {
      messageStrategy: { handleMessage: (message, next) => this.admit(message, next) },
    });
    this.connection.onError(() => this.fail('it sent what is no message of the protocol'));
    this.connection.onClose(() => this.fail('it closed its output'));
  }

  /** Registers a handler; call before `listen`. */
  onNotification(method: string, handler: (params: unknown) => void): void {
    this.connection.onNotification(method, handler);
  }

  /** Registers a request of the server; all others get an error. Call before `listen`. */
  onRequest(method: string, handler: (params: unknown) => unknown): void {
    this.connection.onRequest(method, handler);
  }

  listen(): void {
    this.connection.listen();
  }

  /**
   * Sends a request; resolves with the unchecked response. @throws ToolError if the server rejects it, ends, or does not
   * respond in time; the reason of the signal
   */
  async request(method: string, params: unknown, { signal, timeoutMs }: RequestOptions): Promise<unknown> {
    this.check();
    const token = new CancellationTokenSource();
    const asked: Promise<unknown> = this.connection.sendRequest(method, params, token.token);
    try {
      return await this.within(asked, { signal, timeoutMs });
    } catch (error) {
      token.cancel();
      if (error instanceof ResponseError && this.fault === undefined)
        throw new ToolError('tool_failed', `The language server ${this.name} refused: ${error.message.slice(0, SHOWN_CHARACTERS)}`, {
          retryable: false,
          cause: error,
        });
      throw error;
    }
  }

  /** Resolves when it is written. @throws as `request` */
  async notify(method: string, params: unknown, options: RequestOptions): Promise<void> {
    this.check();
    await this.within(this.connection.sendNotification(method, params), options);
  }

  /** @throws ToolError `unavailable` when the connection is over */
  check(): void {
    if (this.fault !== undefined) throw goneError(this.name, this.fault);
  }

  /** Ends the connection; open requests reject. Idempotent. */
  fail(why: string): void {
    if (this.fault !== undefined) return;
    this.fault = why;
    this.over.abort(goneError(this.name, why));
    this.stdout.destroy();
    this.connection.dispose();
    this.onFault(why, this.limits.isFlood);
  }

  private async within<T>(work: Promise<T>, { signal, timeoutMs }: RequestOptions): Promise<T> {
    work.catch(() => undefined);
    const done = new AbortController();
    const stop = AbortSignal.any([signal, this.over.signal, done.signal]);
    const limit = sleep(timeoutMs, 'late' as const, { signal: stop }).catch(() => 'stopped' as const);
    try {
      // Rejections of a disposed connection have a message of the library.
      const first = await Promise.race([work.then((value) => ({ value })), limit]).catch((error: unknown) => {
        this.check();
        throw error;
      });
      if (typeof first === 'object') return first.value;
      signal.throwIfAborted();
      this.check();
      throw new LateAnswer(this.name, timeoutMs);
    } finally {
      done.abort();
    }
  }

  private parsed(body: Uint8Array): unknown {
    try {
      return this.limits.parse(body);
    } catch (error) {
      if (error instanceof RangeError) this.fail(error.message);
      throw error;
    }
  }

  private admit(message: Message, next: (message: Message) => void | Promise<void>): void | Promise<void> {
    if (Message.isRequest(message) && (this.requests += 1) > MOST_REQUESTS) return this.fail('it sent too many requests');
    return this.fault === undefined ? next(message) : undefined;
  }
}

/** The server runs, and has not answered in time. */
export class LateAnswer extends ToolError {
  constructor(name: string, timeoutMs: number) {
    super(
      'tool_failed',
      `The language server ${name} did not answer within ${timeoutMs / 1_000} s. It may still be reading the workspace: try again, or use operations by symbol_name.`,
      { retryable: false },
    );
  }
}

export function goneError(name: string, why: string): ToolError {
  return new ToolError('unavailable', `The language server ${name} was ended: ${why}. Try again, or use operations by symbol_name.`, {
    retryable: true,
  });
}
