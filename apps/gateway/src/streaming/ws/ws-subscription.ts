import type { Gap, Scope } from '#contracts';
import type { EventBatch, Subscription } from '#event-log';
import type { SubscriptionSink } from '../delivery/outbox-item.js';
import { serverFrames } from './server-frames.js';

/** Subscription on a WebSocket. `followed`: belongs to a submitted call and ends with it. */
export class WsSubscription implements SubscriptionSink {
  sentCursor = '';
  closed = false;
  private subscription: Subscription | undefined;

  constructor(
    /** Id of the client as JSON text. */
    readonly id: string,
    readonly followed: boolean,
    private readonly batched: boolean,
  ) {}

  /** Shares the bytes between sockets that use the same id. */
  events(batch: EventBatch): readonly Buffer[] {
    const { id } = this;
    if (this.batched && batch.events.length > 1) return [batch.shared(`ws ${id}`, (shared) => serverFrames.events(id, shared))];
    return batch.events.map(({ json }, index) =>
      batch.shared(`ws ${id} ${index}`, ({ cursors }) => serverFrames.event(id, json, cursors[index] ?? '')),
    );
  }

  gap(gap: Gap): string {
    return serverFrames.gap(this.id, gap);
  }

  /** Scope that the key needs for these events: a key that submits a call may follow it. */
  get scope(): Scope {
    return this.followed ? 'submit' : 'read';
  }

  open(subscription: Subscription): void {
    this.subscription = subscription;
    if (this.closed) subscription.close();
  }

  close(): void {
    this.closed = true;
    this.subscription?.close();
  }
}
