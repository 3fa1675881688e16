import { ProblemError, type Call, type EventFilter } from '#contracts';
import type { CallSnapshot, StoredEvent } from '../event-log.port.js';
import type { Position } from '../read/cursor.js';
import { callLost } from '../event-log-errors.js';
import { batchesOf, type EventBatch } from './event-batch.js';
import type { LogPager, LogPage } from './log-pager.js';
import type { TailReset } from './tail-reader.js';
import type { PartitionPositions } from './partition-positions.js';
import { SubscriptionGroup, type Subscriber } from './subscription-group.js';

/** Reason why the next events do not continue the previous ones. */
export type ResyncReason = TailReset | 'cursor_too_old' | 'cursor_ahead_of_log' | 'cursor_of_other_epoch';

/** Delivery to a subscriber, in this order: `started` once, then events, with a `resync` before any break. `failed` is the last. */
export type Delivery =
  | { readonly kind: 'started'; readonly cursor: string }
  | { readonly kind: 'events'; readonly batch: EventBatch }
  | { readonly kind: 'resync'; readonly reason: ResyncReason; readonly snapshot: readonly Call[]; readonly cursor: string }
  | { readonly kind: 'failed'; readonly problem: ProblemError };

export interface SubscribeRequest {
  readonly tenantId: string;
  readonly filter: EventFilter;
  /** Place after which to continue. Default: the first event of a call; for wider filters, now. */
  readonly cursor?: string | undefined;
  /** Called synchronously for each delivery; must not throw. */
  readonly deliver: (delivery: Delivery) => void;
  /** Awaited between batches of older events: backpressure of the reader. */
  readonly writable?: () => Promise<void>;
}

/** Older state that a subscription reads; both methods may reject while Redis is unreachable. */
export interface SubscriptionSources {
  callSnapshot(callId: string): Promise<Pick<CallSnapshot, 'lifecycleSeqs' | 'status'> | undefined>;
  /** Present state of the calls that the filter matches. */
  snapshot(tenantId: string, filter: EventFilter): Promise<readonly Call[]>;
}

/** Part of the hub that a subscription uses. */
export interface SubscriptionHost {
  readonly positions: PartitionPositions;
  readonly pager: LogPager;
  readonly sources: SubscriptionSources;
  /** Resolves at the next read or reset of the tail. */
  nextAppend(): Promise<void>;
  join(reader: Subscriber, view: SubscriptionGroup): void;
  leave(reader: Subscriber, view: SubscriptionGroup): void;
  remove(subscription: Subscription): void;
}

/** Largest batch of events in one delivery. */
export const BATCH_CHARS = 128 * 1024;
const READ_ATTEMPTS = 6;
const READ_FAILED = 'The event log cannot be read now. Subscribe again from the last cursor.';

/**
 * Reads the log for one subscriber: catching up, then live.
 *
 * Catching up reads (place, T] from memory or the log, T being the place of the tail; each batch waits for the reader. As soon
 * as the rest is in memory, it is delivered and the subscription joins its group in the same synchronous step, so that no event
 * is lost or doubled. Nothing is buffered meanwhile: the log and the memory of recent events are the buffer. A break in the log
 * leads back to catching up, after a resync.
 */
export class Subscription implements Subscriber {
  private state: 'catching_up' | 'live' | 'closed' = 'catching_up';
  private positions: Position[];
  private started = false;
  private broken: ResyncReason | undefined;
  /** True for the stream of a call whose End is known: the call may be erased, or past its retention, but is not lost. */
  private hasEnded = false;
  private readonly group: SubscriptionGroup;
  private readonly singlePartition: number | undefined;
  private readonly partitions: readonly number[];

  /** Throws `invalid_request` for a cursor that cannot be read. Delivers nothing before the caller's tick is over. */
  constructor(
    private readonly request: SubscribeRequest,
    private readonly host: SubscriptionHost,
  ) {
    const { positions: timeline } = host;
    this.singlePartition = timeline.partitionOf(request.tenantId, request.filter);
    this.group = new SubscriptionGroup(request.tenantId, request.filter, this.singlePartition);
    this.positions = request.cursor === undefined ? timeline.now() : timeline.parse(request.cursor, this.singlePartition);
    this.partitions = this.singlePartition === undefined ? this.positions.map((_, index) => index) : [this.singlePartition];
    queueMicrotask(() => void this.run());
  }

  /** Cursor up to which all matching events were delivered. Undefined while catching up. */
  get progress(): string | undefined {
    const { positions } = this.host;
    return this.state === 'live' ? positions.format(positions.now(), this.singlePartition) : undefined;
  }

  /** Ends the delivery. Idempotent. */
  close(): void {
    if (this.state === 'closed') return;
    if (this.state === 'live') this.host.leave(this, this.group);
    this.state = 'closed';
    this.host.remove(this);
  }

  push(batch: EventBatch): void {
    this.deliver({ kind: 'events', batch });
  }

  /** Called after a reset of the tail in this partition. */
  reset(partition: number, reason: TailReset): void {
    if (this.state === 'closed' || !this.partitions.includes(partition)) return;
    this.broken = reason;
    if (this.state !== 'live') return;
    this.host.leave(this, this.group);
    this.state = 'catching_up';
    void this.run();
  }

  /** Never rejects. Ends when the subscription is live or closed. */
  private async run(): Promise<void> {
    for (let failures = 0; this.state === 'catching_up';) {
      try {
        if (!this.started) await this.begin();
        else if (this.broken !== undefined) await this.resync(this.broken);
        else if (!this.goLive()) await this.catchUp();
        failures = 0;
      } catch (error) {
        if (++failures < READ_ATTEMPTS) await new Promise((resolve) => setTimeout(resolve, 100 * failures));
        else this.fail(error);
      }
    }
  }

  private async begin(): Promise<void> {
    const { callId } = this.request.filter;
    if (callId !== undefined && this.singlePartition !== undefined && this.request.cursor === undefined) {
      const snapshot = await this.host.sources.callSnapshot(callId);
      this.hasEnded = snapshot?.status === 'ended';
      const { epoch } = this.host.positions.buffer(this.singlePartition);
      this.positions[this.singlePartition] = { epoch, seq: (snapshot?.lifecycleSeqs[0] ?? 1) - 1 };
    }
    this.started = true;
    this.deliver({ kind: 'started', cursor: this.format(this.positions) });
  }

  /** Continues from now, with the state of the calls in place of the unavailable events. */
  private async resync(reason: ResyncReason): Promise<void> {
    this.broken = undefined;
    this.positions = this.host.positions.now();
    const cursor = this.format(this.positions);
    const snapshot = await this.host.sources.snapshot(this.request.tenantId, this.request.filter).catch((error: unknown) => {
      this.broken ??= reason;
      throw error;
    });
    if (this.broken !== undefined) return;
    const { callId } = this.request.filter;
    // Events and heads of a call leave Redis by age, too, but then the archive has the call.
    const isLost = snapshot.length === 0 && !this.hasEnded && reason !== 'cursor_too_old';
    if (callId !== undefined && isLost) return this.fail(callLost(callId));
    this.deliver({ kind: 'resync', reason, snapshot, cursor });
  }

  /** Delivers the rest and goes live in one synchronous step; false if the rest exceeds one batch. */
  private goLive(): boolean {
    const { positions: timeline } = this.host;
    const rest: StoredEvent[] = [];
    let chars = 0;
    for (const partition of this.partitions) {
      const position = this.positions[partition];
      const recent = timeline.buffer(partition);
      if (position === undefined || position.epoch !== recent.epoch || position.seq > recent.seq) return false;
      for (const event of recent.after(position.seq) ?? []) {
        if (!this.group.matches(event)) continue;
        chars += event.size;
        rest.push(event);
      }
      if (chars > BATCH_CHARS || recent.after(position.seq) === undefined) return false;
    }
    this.deliverAll(rest, timeline.now());
    if (this.state !== 'catching_up') return true;
    this.state = 'live';
    this.host.join(this, this.group);
    return true;
  }

  /** Reads one page of each partition that is behind. */
  private async catchUp(): Promise<void> {
    const behind: number[] = [];
    for (const partition of this.partitions) {
      const position = this.positions[partition];
      const recent = this.host.positions.buffer(partition);
      if (position === undefined || position.epoch !== recent.epoch) return this.breakOff('cursor_of_other_epoch');
      if (position.seq > recent.seq) return this.waitForTail(partition, position);
      if (position.seq < recent.seq) behind.push(partition);
    }
    const pages = await Promise.all(behind.map((partition) => this.pageOf(partition)));
    for (const [index, partition] of behind.entries()) {
      const page = pages[index];
      if (this.state !== 'catching_up' || this.broken !== undefined) return;
      if (page === undefined) return this.breakOff('cursor_too_old');
      await this.deliverPage(partition, page);
    }
  }

  /** Reads a page from memory if that reaches back far enough, else from the log. */
  private async pageOf(partition: number): Promise<LogPage | undefined> {
    const position = this.positions[partition];
    const recent = this.host.positions.buffer(partition);
    if (position === undefined) return undefined;
    const events = recent.after(position.seq);
    if (events !== undefined) return { events, seq: recent.seq };
    return this.host.pager.page(partition, position, recent.seq, this.request.filter.callId);
  }

  private async deliverPage(partition: number, { events, seq }: LogPage): Promise<void> {
    const matching = events.filter((event) => this.group.matches(event));
    const { epoch = 0 } = this.positions[partition] ?? {};
    const end = this.positions.with(partition, { epoch, seq });
    for (const batch of this.batches(matching, end)) {
      if (this.state !== 'catching_up' || this.broken !== undefined) return;
      this.deliver({ kind: 'events', batch });
      await this.request.writable?.();
    }
    // A call has no event after its End: the rest of the log is skipped.
    const over = this.request.filter.callId !== undefined && matching.at(-1)?.type === 'call.end';
    this.positions = over ? this.host.positions.now() : end;
  }

  /** Handles a cursor ahead of this process: from another gateway that was faster, or from a lost log. */
  private async waitForTail(partition: number, position: Position): Promise<void> {
    const moved = this.host.nextAppend();
    const end = await this.host.pager.end(partition);
    if (end.epoch === position.epoch && end.seq < position.seq) return this.breakOff('cursor_ahead_of_log');
    await moved;
  }

  private breakOff(reason: ResyncReason): void {
    this.broken ??= reason;
  }

  private deliverAll(events: readonly StoredEvent[], end: readonly Position[]): void {
    for (const batch of this.batches(events, end)) this.deliver({ kind: 'events', batch });
  }

  private batches(events: readonly StoredEvent[], end: readonly Position[]): EventBatch[] {
    return batchesOf(
      events,
      this.positions,
      this.singlePartition === undefined ? end : undefined,
      (positions) => this.format(positions),
      BATCH_CHARS,
    );
  }

  private format(positions: readonly Position[]): string {
    return this.host.positions.format(positions, this.singlePartition);
  }

  private deliver(delivery: Delivery): void {
    if (delivery.kind === 'events') this.hasEnded ||= delivery.batch.events.at(-1)?.type === 'call.end';
    if (this.state !== 'closed') this.request.deliver(delivery);
  }

  /** Sends `failed` and closes. */
  fail(error: unknown): void {
    const problem = error instanceof ProblemError ? error : new ProblemError('unavailable', READ_FAILED, { retryAfterMs: 1000 });
    try {
      this.deliver({ kind: 'failed', problem });
    } catch {
      // A reader that throws here too gets no further delivery.
    }
    this.close();
  }
}
