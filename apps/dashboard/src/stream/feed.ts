import { NOTICE_TYPES, type CallEvent, type CallEventType, type Notice } from '#contracts';
import { ToolyardError, type StreamState, type ToolyardClient } from '#client';
import { FrameStore } from './frame-store.js';

export type FeedState = 'connecting' | 'live' | 'reconnecting' | 'closed';

/** A connection that was lost and is not back yet. */
export interface Outage {
  readonly since: number;
  /** Time of the next attempt, in milliseconds since 1970. */
  readonly retryAt: number;
}

/** All events except the output of calls, which the page of a call reads. */
export const LIFECYCLE: CallEventType[] = [
  'call.submitted',
  'call.approval_requested',
  'call.approval_decided',
  'call.start',
  'call.retry',
  'call.input_requested',
  'call.input_given',
  'call.cancel_requested',
  'call.end',
];

/** The most events buffered before listeners are called, if events arrive faster than the browser handles them. */
const MOST_AT_ONCE = 500;

type Listener = (events: readonly CallEvent[]) => void;

/**
 * The page's single event stream: everything the key may see. The client reconnects and resumes it, so listeners miss no event.
 * After a `resync` (or an absence longer than the log's retention) they are called to reload.
 */
export class Feed extends FrameStore {
  private current: FeedState = 'connecting';
  private lost: Outage | undefined;
  private readonly readers = new Set<Listener>();
  private readonly liveListeners = new Set<() => void>();
  private readonly noticeListeners = new Set<(notice: Notice) => void>();
  private buffer: CallEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private cursor: string | undefined;

  /** `mayReopen` is asked when the gateway has refused the stream. Where it says no, the page is about to go. Not given: the stream stays closed. */
  constructor(
    private readonly client: ToolyardClient,
    private readonly mayReopen?: () => Promise<boolean>,
  ) {
    super();
  }

  get state(): FeedState {
    return this.current;
  }

  /** Undefined while the stream is live, before its first attempt has failed, and where the gateway has refused it. */
  get outage(): Outage | undefined {
    return this.current === 'closed' ? undefined : this.lost;
  }

  /** Events in the order they come, in pieces. */
  listen(listener: Listener): () => void {
    this.readers.add(listener);
    return () => this.readers.delete(listener);
  }

  /** Called when the stream becomes live, is live again after a reconnect, or has skipped events. */
  onLive(listener: () => void): () => void {
    this.liveListeners.add(listener);
    return () => this.liveListeners.delete(listener);
  }

  /** Called for events of sessions and workers. */
  onNotice(listener: (notice: Notice) => void): () => void {
    this.noticeListeners.add(listener);
    return () => this.noticeListeners.delete(listener);
  }

  /** Reads until stopped. Another start resumes. */
  start(): () => void {
    const stopping = new AbortController();
    void this.follow(stopping.signal);
    return () => stopping.abort();
  }

  /** A stream that was refused and never live is refused again in the same way. Where nothing answers, the gateway of this page restarts. */
  private async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { wasLive, isUnanswered } = await this.readToEnd(signal);
      if (isUnanswered) continue;
      if (this.mayReopen === undefined) break;
      this.enter('reconnecting', signal);
      // The login page takes the place of this one: the state stays as it is until then.
      if (!(await this.mayReopen())) return;
      if (!wasLive) break;
    }
    this.enter('closed', signal);
  }

  private async readToEnd(signal: AbortSignal): Promise<{ readonly wasLive: boolean; readonly isUnanswered: boolean }> {
    let wasLive = false;
    let isUnanswered = false;
    const onState = (next: StreamState) => {
      wasLive ||= next.state === 'live';
      if (next.state === 'reconnecting' && !signal.aborted) this.lose(next.inMs);
      if (next.state !== 'closed') this.enter(next.state, signal);
    };
    const cursor = this.cursor === undefined ? {} : { cursor: this.cursor };
    try {
      for await (const item of this.client.watch({ types: [...LIFECYCLE, ...NOTICE_TYPES] }, { signal, onState, ...cursor })) {
        if (item.kind === 'event') this.take(item.event);
        else if (item.kind === 'notice') for (const listener of this.noticeListeners) listener(item.notice);
        else if (item.kind === 'resync') for (const listener of this.liveListeners) listener();
        if (item.kind !== 'gap') this.cursor = item.cursor ?? this.cursor;
      }
    } catch (error) {
      // Refusals by the gateway are found by a request for the login, or shown by the requests of the page.
      isUnanswered = error instanceof ToolyardError && error.neverAnswered;
    }
    return { wasLive, isUnanswered };
  }

  private enter(state: FeedState, signal: AbortSignal): void {
    if (signal.aborted || state === this.current) return;
    this.current = state;
    if (state === 'live') this.lost = undefined;
    this.changed();
    if (state === 'live') for (const listener of this.liveListeners) listener();
  }

  private lose(inMs: number): void {
    const now = Date.now();
    this.lost = { since: this.lost?.since ?? now, retryAt: now + inMs };
    this.changed();
  }

  private take(event: CallEvent): void {
    this.buffer.push(event);
    if (this.buffer.length >= MOST_AT_ONCE) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), 0);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const events = this.buffer;
    this.buffer = [];
    for (const reader of this.readers) reader(events);
  }
}
