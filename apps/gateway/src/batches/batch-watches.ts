import type { Call } from '#contracts';
import type { EventHub, StoredEvent } from '#event-log';
import { watchedCall } from '../calls/read/watched-call.js';

/** Text of events that one batch keeps for its answer; calls beyond it are read from the log again. */
const KEPT_CHARS = 1024 * 1024;

/** What a watch saw of a call: undefined when only the store knows how the call is. */
export type WatchedEnd = { readonly neverRan: boolean } | undefined;

/** Watches the calls of one batch for their Ends, and keeps what it saw for the answer to a client that waits. */
export class BatchWatches {
  private readonly open = new Map<string, ReturnType<EventHub['watch']>>();
  private readonly seen = new Map<string, readonly StoredEvent[]>();
  private charsLeft = KEPT_CHARS;

  constructor(
    private readonly hub: Pick<EventHub, 'watch'>,
    private readonly over: (callId: string, end: WatchedEnd) => void,
  ) {}

  /** Registered when this returns: an End after it is not missed. A call has one watch. */
  add(callId: string): void {
    if (this.open.has(callId)) return;
    const watch = this.hub.watch(callId);
    this.open.set(callId, watch);
    void watch.ended.then((events) => {
      // It was given up, and perhaps replaced.
      if (this.open.get(callId) !== watch) return;
      this.open.delete(callId);
      this.keep(callId, events);
      this.over(callId, endOf(events));
    });
  }

  has(callId: string): boolean {
    return this.open.has(callId);
  }

  remove(callId: string): void {
    const watch = this.open.get(callId);
    this.open.delete(callId);
    watch?.cancel();
  }

  close(): void {
    for (const callId of this.open.keys()) this.remove(callId);
  }

  /** The ended call; undefined when it has to be read. */
  callOf(callId: string): Call | undefined {
    return watchedCall(this.seen.get(callId));
  }

  private keep(callId: string, events: readonly StoredEvent[] = []): void {
    const chars = events.reduce((sum, { size }) => sum + size, 0);
    if (events.length === 0 || chars > this.charsLeft) return;
    this.charsLeft -= chars;
    this.seen.set(callId, events);
  }
}

/** Only a watch that began before the call tells whether it ran. */
function endOf(events: readonly StoredEvent[] | undefined): WatchedEnd {
  if (events?.[0]?.type !== 'call.submitted') return undefined;
  return { neverRan: !events.some(({ type }) => type === 'call.start') };
}
