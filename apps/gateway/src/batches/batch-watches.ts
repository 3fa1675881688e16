import type { EventHub, StoredEvent } from '#event-log';
import { watchedCall } from '../calls/read/watched-call.js';
import type { CallForResult } from './batch-reader.service.js';

/** Text of events whose calls all batches of a process keep for their answers; calls beyond it are read from the log again. */
const KEPT_CHARS = 64 * 1024 * 1024;

/** What is left of the text that batches may keep. */
export class KeptText {
  constructor(private left = KEPT_CHARS) {}

  take(chars: number): boolean {
    if (chars > this.left) return false;
    this.left -= chars;
    return true;
  }

  giveBack(chars: number): void {
    this.left += chars;
  }
}

/** What a watch saw of a call: undefined when only the store knows how the call is. */
export type WatchedEnd = { readonly notStarted: boolean } | undefined;

/** Watches the calls of one batch for their Ends, and keeps what it saw while a client waits for the answer. */
export class BatchWatches {
  private readonly open = new Map<string, ReturnType<EventHub['watch']>>();
  private readonly seen = new Map<string, CallForResult>();
  private keptChars = 0;

  /** `kept`: undefined when no client waits. */
  constructor(
    private readonly hub: Pick<EventHub, 'watch'>,
    private kept: KeptText | undefined,
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
  callOf(callId: string): CallForResult | undefined {
    return this.seen.get(callId);
  }

  /** The answer was given: nothing is kept any more. */
  forget(): void {
    this.kept?.giveBack(this.keptChars);
    this.kept = undefined;
    this.seen.clear();
  }

  /** What happened between these two is not in the answer of a batch. Built now: all at the end would make the client wait for it. */
  private keep(callId: string, events: readonly StoredEvent[] = []): void {
    const needed = events.filter(({ type }) => type === 'call.submitted' || type === 'call.end');
    const chars = needed.reduce((sum, { size }) => sum + size, 0);
    if (this.kept === undefined || needed.length === 0 || !this.kept.take(chars)) return;
    this.keptChars += chars;
    const call = watchedCall(needed);
    if (call !== undefined) this.seen.set(callId, call);
  }
}

/** Only a watch that began before the call tells whether it ran. */
function endOf(events: readonly StoredEvent[] | undefined): WatchedEnd {
  if (events?.[0]?.type !== 'call.submitted') return undefined;
  return { notStarted: !events.some(({ type }) => type === 'call.start') };
}
