import type { StoredEvent } from '../event-log.port.js';
import type { Position } from '../read/cursor.js';

/**
 * The newest events of one partition, kept in memory so that short reconnects and new subscriptions need no read of
 * the log. Everything after `floor` up to `seq` is here; the older half is dropped when the store is full.
 */
export class EventRingBuffer {
  private events: StoredEvent[] = [];
  private chars = 0;
  private floor: number;
  private last: number;

  constructor(
    private currentEpoch: number,
    seq: number,
    private readonly maxChars: number,
  ) {
    this.floor = seq;
    this.last = seq;
  }

  get position(): Position {
    return { epoch: this.currentEpoch, seq: this.last };
  }

  get epoch(): number {
    return this.currentEpoch;
  }

  get seq(): number {
    return this.last;
  }

  push(event: StoredEvent): void {
    this.events.push(event);
    this.last = event.seq;
    this.chars += event.size;
    if (this.chars > this.maxChars) this.dropOlderHalf();
  }

  /** Advances to `seq` past an entry of an unknown type. */
  advance(seq: number): void {
    this.last = seq;
  }

  /** Events after `seq`, oldest first; undefined if `seq` is older than this store. */
  after(seq: number): readonly StoredEvent[] | undefined {
    if (seq < this.floor) return undefined;
    return seq >= this.last ? [] : this.events.slice(this.indexAfter(seq));
  }

  /** Begins a new epoch after the stored events; none was lost. */
  continueIn(epoch: number): void {
    this.currentEpoch = epoch;
  }

  /** Drops all events: the log was rolled back, or events are missing. */
  reset({ epoch, seq }: Position): void {
    this.events = [];
    this.chars = 0;
    this.currentEpoch = epoch;
    this.floor = seq;
    this.last = seq;
  }

  private indexAfter(seq: number): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.events[middle]?.seq ?? Infinity) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private dropOlderHalf(): void {
    const dropped = this.events.splice(0, Math.max(1, this.events.length >>> 1));
    this.floor = dropped.at(-1)?.seq ?? this.floor;
    for (const event of dropped) this.chars -= event.size;
  }
}
