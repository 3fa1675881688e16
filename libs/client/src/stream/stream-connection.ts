import { backoffMs } from '../http/backoff.js';
import { ToolyardError } from '../toolyard-error.js';
import type { ReceivedFrame } from './server-frame.js';
import { isRetryable, type StreamTransport, type StreamReader } from './stream-transport.js';
import { StreamSocket, type SocketEnd, type StreamSocketOptions } from './stream-socket.js';

export interface StreamConnectionOptions extends StreamSocketOptions {
  /** Finds the reason of a failed handshake by HTTP, since browsers do not report it. */
  readonly diagnose: () => Promise<ToolyardError | undefined>;
  /** Most retries if nothing has ever responded. */
  readonly retries: number;
  /** Called whenever the gateway has accepted the key. */
  readonly onAnswer: () => void;
}

/** Time for which a socket without readers stays open: the stream of the next call often follows at once. */
const IDLE_MS = 200;
const RESUBSCRIBE_MS = 1000;

/**
 * One WebSocket for many readers, opened with the first and closed after the last. After a break it is opened again with
 * exponential backoff, and each reader is subscribed from its own cursor: none misses an event or receives one twice.
 *
 * No `partysocket` or `reconnecting-websocket`: each reconnect sends the key and all subscriptions again, and close codes and
 * problems decide whether to reconnect at all.
 */
export class StreamConnection implements StreamTransport {
  private readonly readers = new Map<number, StreamReader>();
  private socket: StreamSocket | undefined;
  private nextId = 1;
  private attempt = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private idle: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: StreamConnectionOptions) {}

  get size(): number {
    return this.readers.size;
  }

  add(reader: StreamReader): void {
    clearTimeout(this.idle);
    this.idle = undefined;
    const id = this.nextId++;
    this.readers.set(id, reader);
    if (this.socket?.ready) this.subscribe(id, reader);
    else if (this.socket === undefined && this.retry === undefined) this.open();
  }

  remove(reader: StreamReader): void {
    for (const [id, other] of this.readers) {
      if (other !== reader) continue;
      this.readers.delete(id);
      if (this.socket?.ready) this.socket.send({ op: 'unsubscribe', id });
    }
    if (this.readers.size === 0) this.idle ??= setTimeout(() => this.close(), IDLE_MS);
  }

  /** Closes the socket. Idempotent. A reader that is added later opens it again. */
  close(): void {
    clearTimeout(this.retry);
    clearTimeout(this.idle);
    this.retry = this.idle = undefined;
    this.socket?.close();
    this.socket = undefined;
    this.attempt = 0;
    for (const reader of this.readers.values()) reader.onStateChange({ state: 'closed' });
    this.readers.clear();
  }

  private open(): void {
    this.retry = undefined;
    this.socket = new StreamSocket(this.options, {
      ready: () => {
        this.attempt = 0;
        this.options.onAnswer();
        for (const [id, reader] of this.readers) this.subscribe(id, reader);
      },
      frame: (frame) => this.route(frame),
      over: (end) => void this.reconnect(end),
    });
  }

  private subscribe(id: number, { filter, cursor }: StreamReader): void {
    this.socket?.send({ op: 'subscribe', id, filter, batch: true, cursor });
  }

  private route(frame: ReceivedFrame): void {
    if (!('id' in frame) || typeof frame.id !== 'number') return;
    const reader = this.readers.get(frame.id);
    if (reader === undefined) return;
    switch (frame.op) {
      case 'subscribed':
      case 'events':
      case 'gap':
      case 'resync':
        return reader.take(frame);
      case 'error':
        return this.refused(frame.id, reader, ToolyardError.of(frame.problem));
      default:
        return;
    }
  }

  /** Handles a subscription that the gateway has ended. Subscribes again if the error is temporary. */
  private refused(id: number, reader: StreamReader, error: ToolyardError): void {
    this.readers.delete(id);
    if (!isRetryable(error, 1, this.options.retries)) return reader.fail(error);
    const newId = this.nextId++;
    const inMs = backoffMs(1, Math.random(), error.problem?.retryAfterMs ?? RESUBSCRIBE_MS);
    this.readers.set(newId, reader);
    reader.onStateChange({ state: 'reconnecting', error, attempt: 1, inMs });
    setTimeout(() => {
      if (this.readers.get(newId) === reader && this.socket?.ready) this.subscribe(newId, reader);
    }, inMs);
  }

  private async reconnect({ error, reached, final, afterMs }: SocketEnd): Promise<void> {
    this.socket = undefined;
    const diagnosed = reached || final ? undefined : await this.options.diagnose();
    const reason = diagnosed ?? error;
    if (this.readers.size === 0) return;
    this.attempt += 1;
    if (final || (diagnosed !== undefined && !isRetryable(diagnosed, this.attempt, this.options.retries))) return this.failAll(reason);
    const inMs = afterMs ?? backoffMs(this.attempt, Math.random());
    for (const reader of this.readers.values()) reader.onStateChange({ state: 'reconnecting', error: reason, attempt: this.attempt, inMs });
    this.retry = setTimeout(() => this.open(), inMs);
  }

  private failAll(error: ToolyardError): void {
    const failed = [...this.readers.values()];
    this.readers.clear();
    this.attempt = 0;
    for (const reader of failed) reader.fail(error);
  }
}
