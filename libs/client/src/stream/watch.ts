import type { Call, CallEvent, EventFilter, Gap, LogEvent, Notice } from '#contracts';
import { abortError } from '../http/deadline.js';
import type { ToolyardError } from '../toolyard-error.js';
import type { SubscriptionFrame, StreamTransport, StreamReader } from './stream-transport.js';
import type { StreamState } from './stream-state.js';

/**
 * Items of a watch, in order.
 * - `event`: a later watch with the same filter and this `cursor` continues after it. In a frame with several events the last
 *   one has the frame's cursor and the others the previous one: a resume may repeat events but never skips one.
 * - `notice`: an event of a session or worker; only if `types` of the filter names it.
 * - `gap`: this reader was too slow, and Updates or Progress of a call were dropped. Nothing else is ever dropped.
 * - `resync`: later items do not continue the earlier ones (the cursor is older than the log's retention, or the log lost its
 *   end); `snapshot` is the current state of the calls.
 */
export type WatchItem =
  | { readonly kind: 'event'; readonly event: CallEvent; readonly cursor: string | undefined }
  | { readonly kind: 'notice'; readonly notice: Notice; readonly cursor: string | undefined }
  | { readonly kind: 'gap'; readonly gap: Gap }
  | { readonly kind: 'resync'; readonly reason: string; readonly snapshot: readonly Call[]; readonly cursor: string };

export interface WatchOptions {
  /** Position to continue after. Default: now, or for one call its first event. */
  readonly cursor?: string | undefined;
  /** Ends the iteration with the error `aborted`. */
  readonly signal?: AbortSignal | undefined;
  readonly onState?: ((state: StreamState) => void) | undefined;
}

/** Most unread items; above it the subscription ends, and resumes when the reader has read half of them. */
const MAX_UNREAD = 10_000;

/**
 * Live events as an async iterator, subscribed from construction on. Reconnects and resumes by itself. Leaving the loop,
 * `close()` or the signal end it. An error that cannot be retried is thrown after the items before it.
 */
export class Watch implements AsyncIterableIterator<WatchItem>, StreamReader {
  private unread: WatchItem[] = [];
  private readAt = 0;
  private waiting: { resolve(result: IteratorResult<WatchItem>): void; reject(error: Error): void }[] = [];
  private error: ToolyardError | undefined;
  private over = false;
  private paused = false;
  private position: string | undefined;
  private readonly onAbort: () => void;

  constructor(
    private readonly link: StreamTransport,
    readonly filter: EventFilter,
    private readonly options: WatchOptions = {},
  ) {
    this.position = options.cursor;
    const { signal } = options;
    this.onAbort = () => signal && this.fail(abortError(signal));
    if (signal?.aborted) {
      this.onAbort();
      return;
    }
    signal?.addEventListener('abort', this.onAbort, { once: true });
    this.onStateChange({ state: 'connecting' });
    link.add(this);
  }

  /** Position of the stream, after all unread items. */
  get cursor(): string | undefined {
    return this.position;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<WatchItem>> {
    const item = this.unread[this.readAt];
    if (item !== undefined) {
      this.readAt += 1;
      this.resumeWhenRead();
      return Promise.resolve({ done: false, value: item });
    }
    if (this.error !== undefined) {
      const { error } = this;
      this.error = undefined;
      return Promise.reject(error);
    }
    if (this.over) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<WatchItem>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Drops unread items. Idempotent. */
  close(): void {
    this.unread = [];
    this.readAt = 0;
    this.finish();
  }

  take(frame: SubscriptionFrame): void {
    switch (frame.op) {
      case 'subscribed':
        this.position ??= frame.cursor;
        return this.onStateChange({ state: 'live' });
      case 'events': {
        const last = frame.events.length - 1;
        for (const [index, event] of frame.events.entries()) this.put(itemOf(event, index === last ? frame.cursor : this.cursorOf(event)));
        this.position = frame.cursor;
        break;
      }
      case 'gap':
        this.put({ kind: 'gap', gap: { callId: frame.callId, fromSeq: frame.fromSeq, toSeq: frame.toSeq, dropped: frame.dropped } });
        break;
      case 'resync':
        this.put({ kind: 'resync', reason: frame.reason, snapshot: frame.snapshot, cursor: frame.cursor });
        this.position = frame.cursor;
        break;
      default:
        return frame satisfies never;
    }
    if (this.unread.length - this.readAt > MAX_UNREAD && !this.paused && !this.over) {
      this.paused = true;
      this.link.remove(this);
    }
  }

  onStateChange(state: StreamState): void {
    this.options.onState?.(state);
  }

  fail(error: ToolyardError): void {
    if (this.over) return;
    const [first] = this.waiting;
    if (first === undefined) this.error = error;
    else {
      this.waiting.shift();
      first.reject(error);
    }
    this.finish(error);
  }

  /** Cursor of an event. For one call or session it is the id of the event. */
  private cursorOf({ id }: LogEvent): string | undefined {
    return this.filter.callId !== undefined || this.filter.sessionId !== undefined ? id : this.position;
  }

  private put(item: WatchItem): void {
    const waiting = this.waiting.shift();
    if (waiting) waiting.resolve({ done: false, value: item });
    else this.unread.push(item);
  }

  private resumeWhenRead(): void {
    if (this.readAt === this.unread.length) {
      this.unread = [];
      this.readAt = 0;
    } else if (this.readAt > 1024) {
      this.unread = this.unread.slice(this.readAt);
      this.readAt = 0;
    }
    if (!this.paused || this.over || this.unread.length - this.readAt > MAX_UNREAD / 2) return;
    this.paused = false;
    this.link.add(this);
  }

  private finish(error?: ToolyardError): void {
    if (this.over) return;
    this.over = true;
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.link.remove(this);
    for (const reader of this.waiting.splice(0)) reader.resolve({ done: true, value: undefined });
    this.onStateChange({ state: 'closed', error });
  }
}

function itemOf(event: LogEvent, cursor: string | undefined): WatchItem {
  return 'callver' in event ? { kind: 'event', event, cursor } : { kind: 'notice', notice: event, cursor };
}
