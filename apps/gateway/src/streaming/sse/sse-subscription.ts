import type { Call, Gap } from '#contracts';
import type { EventBatch, ResyncReason } from '#event-log';
import type { SubscriptionSink } from '../delivery/outbox-item.js';

/** Messages of a server-sent event stream (WHATWG HTML, 9.2). JSON texts have no line feeds, so each is one data line. */
export class SseSubscription implements SubscriptionSink {
  sentCursor = '';

  /** Shares the bytes between streams of the same view. */
  events(batch: EventBatch): readonly Buffer[] {
    const messages = batch.shared('sse', ({ events, cursors }) =>
      events.map(({ type, json }, index) => `id: ${cursors[index] ?? ''}\nevent: ${type}\ndata: ${json}\n\n`).join(''),
    );
    return [messages];
  }

  /** Omits the id: a client that reconnects gets the dropped events. */
  gap(gap: Gap): string {
    return `event: gap\ndata: ${JSON.stringify(gap)}\n\n`;
  }
}

export function sseResync(reason: ResyncReason, snapshot: readonly Call[], cursor: string): string {
  return `id: ${cursor}\nevent: resync\ndata: ${JSON.stringify({ reason, snapshot, cursor })}\n\n`;
}

export function sseComment(text: string): string {
  return `: ${text}\n\n`;
}

/** Delay before the client reconnects by itself. */
export function sseRetry(ms: number): string {
  return `retry: ${ms}\n\n`;
}
