import type { EventFilter } from '#contracts';
import { backoffMs } from '../http/backoff.js';
import { ToolyardError } from '../toolyard-error.js';
import type { ReceivedFrame } from './server-frame.js';
import { StreamSocket, type SocketEnd, type StreamSocketOptions } from './stream-socket.js';
import type { StreamState } from './stream-state.js';

/** One reader of the stream, as the connection sees it. */
export interface StreamReader {
  readonly filter: EventFilter;
  /** Where to go on; undefined before the first answer. */
  readonly cursor: string | undefined;
  take(frame: LaneFrame): void;
  notice(state: StreamState): void;
  /** The last word: nothing more will come. */
  fail(error: ToolyardError): void;
}

/** What a reader gets. */
export type LaneFrame = Extract<ReceivedFrame, { op: 'subscribed' | 'events' | 'gap' | 'resync' }>;

export interface StreamConnectionOptions extends StreamSocketOptions {
  /** Why a connection could not be made, as far as HTTP can tell: browsers say nothing about a failed handshake. */
  readonly diagnose: () => Promise<ToolyardError | undefined>;
}

/** A socket without readers is kept for a moment: the next call's stream may be about to begin. */
const IDLE_MS = 200;
const AGAIN_MS = 1000;

/**
 * One socket for many readers, opened with the first and closed after the last. When it breaks it is opened again, with
 * growing pauses, and every reader is subscribed from its own cursor: none misses an event, none gets one twice.
 */
export class StreamConnection {
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
    const id = this.nextId++;
    this.readers.set(id, reader);
    if (this.socket?.ready) this.subscribe(id, reader);
    else if (this.socket === undefined && this.retry === undefined) this.open();
  }

  /** Nothing is given to the reader afterwards. Idempotent. */
  remove(reader: StreamReader): void {
    for (const [id, other] of this.readers) {
      if (other !== reader) continue;
      this.readers.delete(id);
      if (this.socket?.ready) this.socket.send({ op: 'unsubscribe', id });
    }
    if (this.readers.size === 0) this.idle ??= setTimeout(() => this.close(), IDLE_MS);
  }

  /** Idempotent; a reader that comes later opens it again. */
  close(): void {
    clearTimeout(this.retry);
    clearTimeout(this.idle);
    this.retry = this.idle = undefined;
    this.socket?.close();
    this.socket = undefined;
    for (const reader of this.readers.values()) reader.notice({ state: 'closed' });
    this.readers.clear();
  }

  private open(): void {
    this.retry = undefined;
    this.socket = new StreamSocket(this.options, {
      ready: () => {
        this.attempt = 0;
        for (const [id, reader] of this.readers) this.subscribe(id, reader);
      },
      frame: (frame) => this.route(frame),
      over: (end) => void this.reconnect(end),
    });
  }

  private subscribe(id: number, { filter, cursor }: StreamReader): void {
    this.socket?.send({ op: 'subscribe', id, filter, ...(cursor === undefined ? {} : { cursor }) });
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

  /** The subscription is over on the other side; what may pass is asked for again. */
  private refused(id: number, reader: StreamReader, error: ToolyardError): void {
    this.readers.delete(id);
    if (error.code !== 'unavailable' && error.code !== 'overloaded' && error.code !== 'too_many_requests') {
      this.remove(reader);
      return reader.fail(error);
    }
    const again = this.nextId++;
    const inMs = backoffMs(1, Math.random(), error.problem?.retryAfterMs ?? AGAIN_MS);
    this.readers.set(again, reader);
    reader.notice({ state: 'reconnecting', error, attempt: 1, inMs });
    setTimeout(() => {
      if (this.readers.get(again) === reader && this.socket?.ready) this.subscribe(again, reader);
    }, inMs);
  }

  private async reconnect({ error, reached, final, afterMs }: SocketEnd): Promise<void> {
    this.socket = undefined;
    const found = reached || final ? undefined : await this.options.diagnose();
    const reason = found ?? error;
    if (this.readers.size === 0) return;
    if (final || (found !== undefined && !mayPass(found))) return this.failAll(reason);
    this.attempt += 1;
    const inMs = afterMs ?? backoffMs(this.attempt, Math.random());
    for (const reader of this.readers.values()) reader.notice({ state: 'reconnecting', error: reason, attempt: this.attempt, inMs });
    this.retry = setTimeout(() => this.open(), inMs);
  }

  private failAll(error: ToolyardError): void {
    const failed = [...this.readers.values()];
    this.readers.clear();
    for (const reader of failed) reader.fail(error);
  }
}

function mayPass({ code }: ToolyardError): boolean {
  return code === 'unreachable' || code === 'timed_out' || code === 'unavailable' || code === 'overloaded' || code === 'too_many_requests';
}
