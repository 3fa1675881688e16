import type { EventBatch } from '#event-log';
import { telemetry } from '#observability';
import { eventsItem, UpdateCoalescer, textItem, type SubscriptionSink, type OutboxItem } from './outbox-item.js';

/** One client's connection, WebSocket or event stream. */
export interface Connection {
  /** Bytes in the connection that the operating system has not accepted yet. */
  readonly bufferedBytes: number;
  /** Never throws. `flushed` is called when the bytes have left this process, or no longer can. */
  send(frame: string | Buffer, flushed: () => void): void;
}

export interface DeliveryLimits {
  /** Most bytes in the connection; above it, no more frames are written. */
  readonly connectionBytes: number;
  /** Waiting bytes above which, for longer than `coalesceAfterMs`, Updates and Progress are coalesced into gaps. */
  readonly waitingBytes: number;
  /** Delay before coalescing; none above `coalesceAtBytes`. */
  readonly coalesceAfterMs: number;
  readonly coalesceAtBytes: number;
  /** Most waiting bytes after coalescing; above it, the connection is closed as a slow consumer. */
  readonly hardBytes: number;
  /** Time without progress after which a client counts as a slow consumer. */
  readonly drainTimeoutMs: number;
}

const KIB = 1024;
export const DELIVERY_LIMITS: DeliveryLimits = {
  connectionBytes: 256 * KIB,
  waitingBytes: 512 * KIB,
  coalesceAfterMs: 250,
  coalesceAtBytes: 8192 * KIB,
  hardBytes: 1024 * KIB,
  drainTimeoutMs: 30_000,
};

export type SlowConsumer = 'too_much_unsent' | 'no_drain';

/**
 * Frames that wait for one client, in order. A client that reads slower than events arrive gets them late, then with Updates
 * and Progress coalesced into gaps; finally `onSlowConsumer` is called, once. Lifecycle events are never dropped. Clients share
 * waiting batches, which saves memory.
 */
export class SocketOutbox {
  private waiting: OutboxItem[] = [];
  private waitingBytes = 0;
  private coalescer: UpdateCoalescer | undefined;
  private coalesceTimer: NodeJS.Timeout | undefined;
  private drainTimeout: NodeJS.Timeout | undefined;
  private drainWaiters: (() => void)[] = [];
  private closed = false;

  constructor(
    private readonly connection: Connection,
    private readonly onSlowConsumer: (why: SlowConsumer) => void,
    private readonly limits: DeliveryLimits = DELIVERY_LIMITS,
  ) {}

  /** Sends a frame without events, which is never dropped. */
  send(text: string): void {
    this.put(textItem(text));
  }

  deliver(sink: SubscriptionSink, batch: EventBatch): void {
    this.put(eventsItem(sink, batch));
  }

  /** Resolves when there is room for more, or when the outbox is closed. */
  writable(): Promise<void> {
    if (this.closed || this.hasRoom()) return Promise.resolve();
    this.startDrainTimeout();
    return new Promise((resolve) => this.drainWaiters.push(resolve));
  }

  /** Sends a frame ahead of all waiting ones, and drops those: the connection is closed after it. */
  sendLast(text: string): void {
    if (this.closed) return;
    this.close();
    this.connection.send(text, () => {});
  }

  /** Drops all waiting frames. Idempotent. */
  close(): void {
    this.closed = true;
    clearTimeout(this.coalesceTimer);
    clearTimeout(this.drainTimeout);
    this.waiting = [];
    this.notifyDrain();
  }

  private put(item: OutboxItem): void {
    if (this.closed) return;
    if (this.hasRoom()) this.write(item);
    else this.wait(item);
  }

  private hasRoom(): boolean {
    return this.waiting.length === 0 && this.connection.bufferedBytes < this.limits.connectionBytes;
  }

  private wait(item: OutboxItem): void {
    const { waitingBytes, coalesceAtBytes: burstBytes, coalesceAfterMs: burstMs } = this.limits;
    this.append(item);
    this.startDrainTimeout();
    if (this.coalescer) this.checkHardLimit();
    else if (this.waitingBytes > burstBytes) this.coalesceAll();
    else if (this.waitingBytes > waitingBytes) this.coalesceTimer ??= setTimeout(() => this.coalesceIfStillBehind(), burstMs);
  }

  private coalesceIfStillBehind(): void {
    this.coalesceTimer = undefined;
    if (this.coalescer === undefined && this.waitingBytes > this.limits.waitingBytes) this.coalesceAll();
  }

  private checkHardLimit(): void {
    if (this.waitingBytes + this.connection.bufferedBytes > this.limits.hardBytes) this.giveUpSlowConsumer('too_much_unsent');
  }

  private append(item: OutboxItem): void {
    const { coalescer } = this;
    const before = coalescer?.coalesced ?? 0;
    for (const left of coalescer ? coalescer.coalesce(item) : [item]) {
      this.waiting.push(left);
      this.waitingBytes += left.size;
    }
    if (coalescer && coalescer.coalesced > before) telemetry.updatesCoalesced.emit({ where: 'socket', n: coalescer.coalesced - before });
  }

  private coalesceAll(): void {
    const whole = this.waiting;
    this.coalescer = new UpdateCoalescer();
    this.waiting = [];
    this.waitingBytes = 0;
    for (const item of whole) this.append(item);
    this.checkHardLimit();
  }

  /** Called when the connection has written a frame. */
  private flushed(): void {
    if (this.closed) return;
    this.drainTimeout?.refresh();
    let sent = 0;
    for (; sent < this.waiting.length && this.connection.bufferedBytes < this.limits.connectionBytes; sent += 1) {
      const item = this.waiting[sent];
      if (item === undefined) break;
      this.waitingBytes -= item.size;
      this.write(item);
    }
    if (sent > 0) this.waiting.splice(0, sent);
    if (!this.hasRoom()) return;
    this.coalescer = undefined;
    this.waitingBytes = 0;
    this.notifyDrain();
    clearTimeout(this.coalesceTimer);
    clearTimeout(this.drainTimeout);
    this.coalesceTimer = this.drainTimeout = undefined;
  }

  private write(item: OutboxItem): void {
    const flushed = () => this.flushed();
    switch (item.kind) {
      case 'text':
        return this.connection.send(item.text, flushed);
      case 'events':
        item.sink.sentCursor = item.batch.cursor;
        return this.sendAll(item.sink.events(item.batch), flushed);
      case 'gap':
        this.coalescer?.sent(item);
        return this.connection.send(item.sink.gap(item.gap), flushed);
      default:
        return item satisfies never;
    }
  }

  private sendAll(frames: readonly Buffer[], flushed: () => void): void {
    const last = frames.length - 1;
    for (const [index, frame] of frames.entries()) this.connection.send(frame, index === last ? flushed : () => {});
  }

  private startDrainTimeout(): void {
    this.drainTimeout ??= setTimeout(() => this.giveUpSlowConsumer('no_drain'), this.limits.drainTimeoutMs);
  }

  private giveUpSlowConsumer(why: SlowConsumer): void {
    if (this.closed) return;
    this.close();
    this.onSlowConsumer(why);
  }

  private notifyDrain(): void {
    const waiting = this.drainWaiters;
    this.drainWaiters = [];
    for (const resolve of waiting) resolve();
  }
}
