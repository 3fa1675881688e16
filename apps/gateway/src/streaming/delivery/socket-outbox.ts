import type { EventBatch } from '#event-log';
import { signals } from '#observability';
import { eventsItem, Merger, textItem, type Lane, type OutboxItem } from './outbox-item.js';

/** One client's connection, WebSocket or event stream. */
export interface Wire {
  /** Bytes given to the connection that the operating system has not taken yet. */
  readonly bufferedBytes: number;
  /** Never throws. `flushed` is called when the bytes left this process, or cannot any more. */
  send(frame: string | Buffer, flushed: () => void): void;
}

export interface DeliveryLimits {
  /** The connection is given nothing more while it holds this much. */
  readonly connectionBytes: number;
  /** More than this for longer than `burstMs` is slowness: Updates and Progress are merged into gaps. */
  readonly waitingBytes: number;
  /** One busy tick is not yet slowness; more than `burstBytes` is, at once. */
  readonly burstMs: number;
  readonly burstBytes: number;
  /** More than this when merged, and the reader is given up. */
  readonly hardBytes: number;
  /** As is one that takes nothing at all for so long. */
  readonly stallMs: number;
}

const KIB = 1024;
export const DELIVERY_LIMITS: DeliveryLimits = {
  connectionBytes: 256 * KIB,
  waitingBytes: 512 * KIB,
  burstMs: 250,
  burstBytes: 8192 * KIB,
  hardBytes: 1024 * KIB,
  stallMs: 30_000,
};

export type Overrun = 'too_much_unsent' | 'no_drain';

/**
 * What one client still has to get, in order. A client that reads slower than events come first gets them later, then
 * with Updates and Progress merged into gaps, and is at last given up by `onOverrun` (once). Events of a call's
 * lifecycle are never left out. Waiting batches are shared between clients, so waiting costs little memory.
 */
export class SocketOutbox {
  private waiting: OutboxItem[] = [];
  private waitingBytes = 0;
  private merger: Merger | undefined;
  private burst: NodeJS.Timeout | undefined;
  private stall: NodeJS.Timeout | undefined;
  private wantWritable: (() => void)[] = [];
  private closed = false;

  constructor(
    private readonly wire: Wire,
    private readonly onOverrun: (why: Overrun) => void,
    private readonly limits: DeliveryLimits = DELIVERY_LIMITS,
  ) {}

  /** A frame that is not about events; never left out. */
  send(text: string): void {
    this.put(textItem(text));
  }

  deliver(lane: Lane, batch: EventBatch): void {
    this.put(eventsItem(lane, batch));
  }

  /** Resolves when the client has taken so much that there is room for more, or when the outbox is closed. */
  writable(): Promise<void> {
    if (this.closed || this.hasRoom()) return Promise.resolve();
    this.watchStall();
    return new Promise((resolve) => this.wantWritable.push(resolve));
  }

  /** Drops what waits. Idempotent. */
  close(): void {
    this.closed = true;
    clearTimeout(this.burst);
    clearTimeout(this.stall);
    this.waiting = [];
    this.wake();
  }

  private put(item: OutboxItem): void {
    if (this.closed) return;
    if (this.hasRoom()) this.write(item);
    else this.wait(item);
  }

  private hasRoom(): boolean {
    return this.waiting.length === 0 && this.wire.bufferedBytes < this.limits.connectionBytes;
  }

  private wait(item: OutboxItem): void {
    const { waitingBytes, burstBytes, burstMs } = this.limits;
    this.append(item);
    this.watchStall();
    if (this.merger) this.checkHard();
    else if (this.waitingBytes > burstBytes) this.mergeAll();
    else if (this.waitingBytes > waitingBytes) this.burst ??= setTimeout(() => this.burstIsOver(), burstMs);
  }

  private burstIsOver(): void {
    this.burst = undefined;
    if (this.merger === undefined && this.waitingBytes > this.limits.waitingBytes) this.mergeAll();
  }

  private checkHard(): void {
    if (this.waitingBytes + this.wire.bufferedBytes > this.limits.hardBytes) this.overrun('too_much_unsent');
  }

  private append(item: OutboxItem): void {
    const { merger } = this;
    const before = merger?.merged ?? 0;
    for (const left of merger ? merger.merge(item) : [item]) {
      this.waiting.push(left);
      this.waitingBytes += left.size;
    }
    if (merger && merger.merged > before) signals.updatesMerged.emit({ where: 'socket', n: merger.merged - before });
  }

  private mergeAll(): void {
    const whole = this.waiting;
    this.merger = new Merger();
    this.waiting = [];
    this.waitingBytes = 0;
    for (const item of whole) this.append(item);
    this.checkHard();
  }

  /** The client took something. */
  private flushed(): void {
    if (this.closed) return;
    this.stall?.refresh();
    let sent = 0;
    for (; sent < this.waiting.length && this.wire.bufferedBytes < this.limits.connectionBytes; sent += 1) {
      const item = this.waiting[sent];
      if (item === undefined) break;
      this.waitingBytes -= item.size;
      this.write(item);
    }
    if (sent > 0) this.waiting.splice(0, sent);
    if (!this.hasRoom()) return;
    this.merger = undefined;
    this.waitingBytes = 0;
    this.wake();
    clearTimeout(this.burst);
    clearTimeout(this.stall);
    this.burst = this.stall = undefined;
  }

  private write(item: OutboxItem): void {
    const flushed = () => this.flushed();
    switch (item.kind) {
      case 'text':
        return this.wire.send(item.text, flushed);
      case 'events':
        item.lane.sentCursor = item.batch.cursor;
        return this.sendAll(item.lane.events(item.batch), flushed);
      case 'gap':
        this.merger?.sent(item);
        return this.wire.send(item.lane.gap(item.gap), flushed);
      default:
        return item satisfies never;
    }
  }

  private sendAll(frames: readonly Buffer[], flushed: () => void): void {
    const last = frames.length - 1;
    for (const [index, frame] of frames.entries()) this.wire.send(frame, index === last ? flushed : () => {});
  }

  private watchStall(): void {
    this.stall ??= setTimeout(() => this.overrun('no_drain'), this.limits.stallMs);
  }

  private overrun(why: Overrun): void {
    if (this.closed) return;
    this.close();
    this.onOverrun(why);
  }

  private wake(): void {
    const waiting = this.wantWritable;
    this.wantWritable = [];
    for (const resolve of waiting) resolve();
  }
}
