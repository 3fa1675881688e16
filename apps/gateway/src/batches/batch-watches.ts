import type { EventHub, StoredEvent } from '#event-log';
import { watchedCall } from '../calls/read/watched-call.js';
import type { CallForResult } from './batch-reader.service.js';

/** Most characters of events that all batches of a process cache for their answers; calls beyond it are read from the log again. */
const MOST_CACHED_CHARACTERS = 64 * 1024 * 1024;

/** Remaining characters of that cache. */
export class TextBudget {
  constructor(private left = MOST_CACHED_CHARACTERS) {}

  take(chars: number): boolean {
    if (chars > this.left) return false;
    this.left -= chars;
    return true;
  }

  giveBack(chars: number): void {
    this.left += chars;
  }
}

/** Result of a watch; undefined if the call has to be read from the store. */
export type WatchedEnd = { readonly notStarted: boolean } | undefined;

/** Watches the calls of one batch for their Ends, and caches their events while a client waits for the answer. */
export class BatchWatches {
  private readonly open = new Map<string, ReturnType<EventHub['watch']>>();
  private readonly seen = new Map<string, CallForResult>();
  private cachedCharacters = 0;

  /** `textBudget`: undefined if no client waits. */
  constructor(
    private readonly hub: Pick<EventHub, 'watch'>,
    private textBudget: TextBudget | undefined,
    private readonly over: (callId: string, end: WatchedEnd) => void,
  ) {}

  /** Starts a watch, one per call. No End after the return is missed. */
  add(callId: string): void {
    if (this.open.has(callId)) return;
    const watch = this.hub.watch(callId);
    this.open.set(callId, watch);
    void watch.ended.then((events) => {
      // Ignores a watch that was cancelled or replaced.
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

  /** Ended call; undefined if it has to be read. */
  callOf(callId: string): CallForResult | undefined {
    return this.seen.get(callId);
  }

  /** Frees the cache after the answer. */
  forget(): void {
    this.textBudget?.giveBack(this.cachedCharacters);
    this.textBudget = undefined;
    this.seen.clear();
  }

  /**
   * Caches the first event and the End, all that the answer needs. Builds the call at once: building all at the end would delay
   * the client.
   */
  private keep(callId: string, events: readonly StoredEvent[] = []): void {
    const needed = events.filter(({ type }) => type === 'call.submitted' || type === 'call.end');
    const chars = needed.reduce((sum, { size }) => sum + size, 0);
    if (this.textBudget === undefined || needed.length === 0 || !this.textBudget.take(chars)) return;
    this.cachedCharacters += chars;
    const call = watchedCall(needed);
    if (call !== undefined) this.seen.set(callId, call);
  }
}

/** Only a watch that began before the call shows whether it ran. */
function endOf(events: readonly StoredEvent[] | undefined): WatchedEnd {
  if (events?.[0]?.type !== 'call.submitted') return undefined;
  return { notStarted: !events.some(({ type }) => type === 'call.start') };
}
