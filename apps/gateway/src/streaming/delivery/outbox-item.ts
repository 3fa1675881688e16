import type { Gap } from '#contracts';
import { EventBatch, type StoredEvent } from '#event-log';

/** Encoder of one subscription on a socket, for its events and gaps. */
export interface SubscriptionSink {
  /** Frames of a batch, in order. */
  events(batch: EventBatch): readonly Buffer[];
  gap(gap: Gap): string;
  /** Last cursor that was sent; empty before the first. */
  sentCursor: string;
}

/** Frame or batch that waits to be sent. `size`: approximate bytes. */
export type OutboxItem =
  | { readonly kind: 'text'; readonly text: string; readonly size: number }
  | { readonly kind: 'events'; readonly sink: SubscriptionSink; readonly batch: EventBatch; readonly size: number }
  | { readonly kind: 'gap'; readonly sink: SubscriptionSink; gap: Gap; readonly size: number };

type GapItem = Extract<OutboxItem, { kind: 'gap' }>;

const GAP_SIZE = 128;

/**
 * Coalesces the Updates and Progress of waiting items into gaps: one per call and subscription, at the position of the first,
 * extended by every later one. All other items stay, in order.
 */
export class UpdateCoalescer {
  private readonly gaps = new Map<SubscriptionSink, Map<string, GapItem>>();
  coalesced = 0;

  coalesce(item: OutboxItem): OutboxItem[] {
    if (item.kind !== 'events') return [item];
    const { sink, batch } = item;
    const result: OutboxItem[] = [];
    let run: StoredEvent[] = [];
    const endRun = (next: number) => {
      const cursor = batch.cursors[next - 1];
      if (run.length > 0 && cursor !== undefined) result.push(eventsItem(sink, partOf(batch, next - run.length, run, cursor)));
      run = [];
    };
    for (const [index, event] of batch.events.entries()) {
      if (!isPartial(event)) {
        run.push(event);
        continue;
      }
      endRun(index);
      const opened = this.drop(sink, event);
      if (opened) result.push(opened);
    }
    endRun(batch.events.length);
    return result;
  }

  /** New gap; undefined if a waiting gap was extended instead. */
  private drop(sink: SubscriptionSink, { callId, seq }: StoredEvent): GapItem | undefined {
    this.coalesced += 1;
    const ofSink = this.gaps.get(sink) ?? new Map<string, GapItem>();
    this.gaps.set(sink, ofSink);
    const open = ofSink.get(callId);
    if (open) {
      open.gap = { ...open.gap, toSeq: seq, dropped: open.gap.dropped + 1 };
      return undefined;
    }
    const item: GapItem = { kind: 'gap', sink, gap: { callId, fromSeq: seq, toSeq: seq, dropped: 1 }, size: GAP_SIZE };
    ofSink.set(callId, item);
    return item;
  }

  /** Called when the gap was sent: the next Update of its call begins a new one. */
  sent({ sink, gap }: GapItem): void {
    this.gaps.get(sink)?.delete(gap.callId);
  }
}

export function textItem(text: string): OutboxItem {
  return { kind: 'text', text, size: text.length };
}

export function eventsItem(sink: SubscriptionSink, batch: EventBatch): OutboxItem {
  return { kind: 'events', sink, batch, size: batch.size };
}

/** True for events that a slow consumer may miss: it reads the events of a gap from the log. */
function isPartial({ type }: StoredEvent): boolean {
  return type === 'call.update' || type === 'call.progress' || type === 'call.hook' || type === 'call.turn';
}

function partOf(batch: EventBatch, from: number, events: readonly StoredEvent[], cursor: string): EventBatch {
  return new EventBatch(events, cursor, () => batch.cursors.slice(from, from + events.length));
}
