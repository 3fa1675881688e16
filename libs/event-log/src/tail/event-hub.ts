import { partitionName, partitionOf, type RedisConnection } from '#redis';
import type { CallSnapshot } from '../event-log.port.js';
import { CompletionWaiters, type Watch, type WatchOptions } from './completion-waiters.js';
import { formatPoint, type Position } from './cursor.js';
import { batchesOf, type EventBatch } from './event-batch.js';
import { LogPager } from './log-pager.js';
import type { LogTail } from './log-tail.js';
import { PIECE_CHARS, Subscription, type SubscribeRequest, type SubscriptionHost, type SubscriptionSources } from './subscription.js';
import type { TailListener, TailRead, TailReset } from './tail-reader.js';
import { PartitionPositions } from './partition-positions.js';
import { SubscriptionIndex } from './subscription-index.js';
import type { LiveReader, SubscriptionGroup } from './subscription-group.js';

/** A moment of the log that a later subscription can continue from. */
export interface Moment {
  /** The cursor of this moment for a subscription to one call. */
  cursorOf(callId: string): string;
}

/**
 * Everybody in this process who waits for events of the log, fed by one tail: `watch` for the End of a call, `subscribe`
 * for a filter with resume. Routing an event costs as much as there are watchers of it.
 *
 * Start it before use; `close` closes the tail too. The Redis connection is shared with other commands and stays open.
 */
export class EventHub implements SubscriptionHost, TailListener {
  readonly history: LogPager;
  private openTimeline: PartitionPositions | undefined;
  private readonly views = new SubscriptionIndex();
  private readonly watches = new CompletionWaiters();
  private readonly subscriptions = new Set<Subscription>();
  private waitingForMove: (() => void)[] = [];

  constructor(
    private readonly tail: LogTail,
    redis: RedisConnection,
    readonly sources: SubscriptionSources,
  ) {
    this.history = new LogPager(redis);
  }

  /** Resolves when every event from now on will be seen. Waits for Redis as long as it takes. */
  async start(): Promise<void> {
    this.openTimeline = new PartitionPositions(await this.tail.locate());
    this.tail.follow(this);
  }

  /** Those of the tail, for readiness. */
  get connections(): readonly RedisConnection[] {
    return this.tail.connections;
  }

  get started(): boolean {
    return this.openTimeline !== undefined;
  }

  get timeline(): PartitionPositions {
    if (this.openTimeline === undefined) throw new Error('The event hub was used before it was started: await hub.start() first');
    return this.openTimeline;
  }

  /**
   * Waits for a call to end. Registered when this returns: register first, then submit, or look at the store afterwards
   * (the call may have ended before). Give a `timeoutMs` or a `signal`: without, it may wait for ever.
   */
  watch(callId: string, options: WatchOptions = {}): Watch {
    return this.watches.add(callId, options);
  }

  /** Throws `invalid_request` for a cursor that cannot be read, before anything is delivered. */
  subscribe(request: SubscribeRequest): Subscription {
    const subscription = new Subscription(request, this);
    this.subscriptions.add(subscription);
    return subscription;
  }

  /** Where the log is now; take it before a submission to get all of the call's events without a look-up. */
  moment(): Moment {
    const positions = this.timeline.now();
    return {
      cursorOf: (callId) => {
        const partition = Number(partitionOf(callId));
        return formatPoint(partition, positions[partition] ?? { epoch: 0, seq: 0 });
      },
    };
  }

  /**
   * Whether the last event of the call lies at or before the cursor of one of its subscriptions. False when the cursor is of
   * another epoch or beyond what this process has seen: only a subscription can tell then. Throws `invalid_request` for a
   * cursor that cannot be read.
   */
  isBehind({ callId, lastSeq, meta }: CallSnapshot, cursor: string): boolean {
    const only = this.timeline.partitionOf(meta.tenantId, { callId });
    if (only === undefined) return false;
    const place = this.timeline.parse(cursor, only)[only];
    const now = this.timeline.recent(only).position;
    return place?.epoch === now.epoch && (place.seq === lastSeq || (place.seq > lastSeq && place.seq <= now.seq));
  }

  get counts(): { readonly subscriptions: number; readonly watches: number; readonly views: number } {
    return { subscriptions: this.subscriptions.size, watches: this.watches.size, views: this.views.size };
  }

  /** Idempotent. Watches resolve with undefined, subscriptions end without a word: their sockets are the caller's. */
  async close(): Promise<void> {
    this.tail.close();
    for (const subscription of this.subscriptions) subscription.close();
    this.watches.release();
    this.wake();
  }

  arrived(reads: readonly TailRead[]): void {
    const before = this.timeline.now();
    const touched: SubscriptionGroup[] = [];
    for (const { partition, events, seq } of reads) {
      const recent = this.timeline.recent(partition);
      for (const event of events) {
        recent.push(event);
        this.watches.route(event);
        this.views.route(event, touched);
      }
      recent.advance(seq);
    }
    const after = this.timeline.now();
    for (const view of touched) this.deliverTo(view, before, after);
    this.wake();
  }

  reset(partition: number, position: Position, reason: TailReset): void {
    this.timeline.recent(partition).reset(position);
    this.watches.release(partitionName(partition));
    for (const subscription of this.subscriptions) subscription.reset(partition, reason);
    this.wake();
  }

  continues(partition: number, epoch: number): void {
    this.timeline.recent(partition).continueIn(epoch);
    this.wake();
  }

  moved(): Promise<void> {
    return new Promise((resolve) => this.waitingForMove.push(resolve));
  }

  enter(reader: LiveReader, view: SubscriptionGroup): void {
    this.views.enter(reader, view);
  }

  leave(reader: LiveReader, view: SubscriptionGroup): void {
    this.views.leave(reader, view);
  }

  forget(subscription: Subscription): void {
    this.subscriptions.delete(subscription);
  }

  private deliverTo(view: SubscriptionGroup, before: readonly Position[], after: readonly Position[]): void {
    const events = view.pending;
    view.pending = [];
    const format = (positions: readonly Position[]) => this.timeline.format(positions, view.only);
    for (const batch of batchesOf(events, before, view.only === undefined ? after : undefined, format, PIECE_CHARS)) {
      for (const reader of view.readers) deliverOrFail(reader, batch);
    }
  }

  private wake(): void {
    const waiting = this.waitingForMove;
    this.waitingForMove = [];
    for (const resolve of waiting) resolve();
  }
}

/** One broken reader must not cost the others their events. */
function deliverOrFail(reader: LiveReader, batch: EventBatch): void {
  try {
    reader.live(batch);
  } catch (error) {
    reader.fail(error);
  }
}
