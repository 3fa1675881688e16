import { partitionName, partitionOf, type RedisConnection } from '#redis';
import type { CallSnapshot } from '../event-log.port.js';
import { CompletionWaiters, type CompletionWaiter, type CompletionWaitOptions } from './completion-waiters.js';
import { encodeScalarCursor, type Position } from '../read/cursor.js';
import { batchesOf, type EventBatch } from './event-batch.js';
import type { LogArchive } from '../read/log-archive.port.js';
import { LogPager } from './log-pager.js';
import type { LogTail } from './log-tail.js';
import { BATCH_CHARS, Subscription, type SubscribeRequest, type SubscriptionHost, type SubscriptionSources } from './subscription.js';
import type { TailListener, TailRead, TailReset } from './tail-reader.js';
import { PartitionPositions } from './partition-positions.js';
import { SubscriptionIndex } from './subscription-index.js';
import type { Subscriber, SubscriptionGroup } from './subscription-group.js';

/** A moment of the log that a later subscription can continue from. */
export interface LogPosition {
  /** Cursor of this moment for a subscription to one call. */
  cursorOf(callId: string): string;
}

/**
 * All subscribers of this process to events of the log, fed by one tail: `watch` for the End of a call, `subscribe`
 * for a filter with resume. Routing an event costs as much as there are watchers of it.
 *
 * Start it before use; `close` closes the tail too. The Redis connection is shared with other commands and stays open.
 */
export class EventHub implements SubscriptionHost, TailListener {
  readonly pager: LogPager;
  /** Resolves after a successful start. */
  readonly ready: Promise<void>;
  private becomeReady: () => void = () => {};
  private openPositions: PartitionPositions | undefined;
  private readonly groups = new SubscriptionIndex();
  private readonly waiters = new CompletionWaiters();
  private readonly subscriptions = new Set<Subscription>();
  private appendWaiters: (() => void)[] = [];

  constructor(
    private readonly tail: LogTail,
    redis: RedisConnection,
    readonly sources: SubscriptionSources,
    archive?: LogArchive,
  ) {
    this.pager = new LogPager(redis, archive);
    this.ready = new Promise((resolve) => (this.becomeReady = resolve));
  }

  /** Resolves when every later event will be delivered. Waits for Redis without limit. */
  async start(): Promise<void> {
    this.openPositions = new PartitionPositions(await this.tail.seekToEnd());
    this.tail.follow(this);
    this.becomeReady();
  }

  get started(): boolean {
    return this.openPositions !== undefined;
  }

  get positions(): PartitionPositions {
    if (this.openPositions === undefined) throw new Error('The event hub was used before it was started: await hub.start() first');
    return this.openPositions;
  }

  /**
   * Waits for a call to end. The watch is registered on return: register first, then submit, or read the store afterwards (the
   * call may have ended before). Without `timeoutMs` or `signal` it may wait for ever.
   */
  watch(callId: string, options: CompletionWaitOptions = {}): CompletionWaiter {
    return this.waiters.add(callId, options);
  }

  /** Throws `invalid_request` for a cursor that cannot be read, before anything is delivered. */
  subscribe(request: SubscribeRequest): Subscription {
    const subscription = new Subscription(request, this);
    this.subscriptions.add(subscription);
    return subscription;
  }

  /** Present position of the log; read before a submission, it gives all of the call's events without a look-up. */
  currentPosition(): LogPosition {
    const positions = this.positions.now();
    return {
      cursorOf: (callId) => {
        const partition = Number(partitionOf(callId));
        return encodeScalarCursor(partition, positions[partition] ?? { epoch: 0, seq: 0 });
      },
    };
  }

  /**
   * True if the last event of the call lies at or before the cursor of one of its subscriptions. False for a cursor of another
   * epoch or beyond the tail of this process: only a subscription can decide then. Throws `invalid_request` for a cursor that
   * cannot be read.
   */
  isBehind({ callId, lastSeq, meta }: CallSnapshot, cursor: string): boolean {
    const only = this.positions.partitionOf(meta.tenantId, { callId });
    if (only === undefined) return false;
    const place = this.positions.parse(cursor, only)[only];
    const now = this.positions.buffer(only).position;
    return place?.epoch === now.epoch && (place.seq === lastSeq || (place.seq > lastSeq && place.seq <= now.seq));
  }

  get counts(): { readonly subscriptions: number; readonly watches: number; readonly views: number } {
    return { subscriptions: this.subscriptions.size, watches: this.waiters.size, views: this.groups.size };
  }

  /** Idempotent. Watches resolve with undefined; subscriptions end without a final delivery: the caller closes their sockets. */
  async close(): Promise<void> {
    this.tail.close();
    for (const subscription of this.subscriptions) subscription.close();
    this.waiters.resolveAll();
    this.notifyAppend();
  }

  onEvents(reads: readonly TailRead[]): void {
    const before = this.positions.now();
    const touched: SubscriptionGroup[] = [];
    for (const { partition, events, seq } of reads) {
      const recent = this.positions.buffer(partition);
      for (const event of events) {
        recent.push(event);
        this.waiters.route(event);
        this.groups.route(event, touched);
      }
      recent.advance(seq);
    }
    const after = this.positions.now();
    for (const view of touched) this.deliverTo(view, before, after);
    this.notifyAppend();
  }

  onReset(partition: number, position: Position, reason: TailReset): void {
    this.positions.buffer(partition).reset(position);
    this.waiters.resolveAll(partitionName(partition));
    for (const subscription of this.subscriptions) subscription.reset(partition, reason);
    this.notifyAppend();
  }

  onNewEpoch(partition: number, epoch: number): void {
    this.positions.buffer(partition).continueIn(epoch);
    this.notifyAppend();
  }

  nextAppend(): Promise<void> {
    return new Promise((resolve) => this.appendWaiters.push(resolve));
  }

  join(reader: Subscriber, view: SubscriptionGroup): void {
    this.groups.join(reader, view);
  }

  leave(reader: Subscriber, view: SubscriptionGroup): void {
    this.groups.leave(reader, view);
  }

  remove(subscription: Subscription): void {
    this.subscriptions.delete(subscription);
  }

  private deliverTo(view: SubscriptionGroup, before: readonly Position[], after: readonly Position[]): void {
    const events = view.pending;
    view.pending = [];
    const format = (positions: readonly Position[]) => this.positions.format(positions, view.singlePartition);
    for (const batch of batchesOf(events, before, view.singlePartition === undefined ? after : undefined, format, BATCH_CHARS)) {
      for (const reader of view.subscribers) pushOrFail(reader, batch);
    }
  }

  private notifyAppend(): void {
    const waiting = this.appendWaiters;
    this.appendWaiters = [];
    for (const resolve of waiting) resolve();
  }
}

/** Isolates a failing reader from the others. */
function pushOrFail(reader: Subscriber, batch: EventBatch): void {
  try {
    reader.push(batch);
  } catch (error) {
    reader.fail(error);
  }
}
