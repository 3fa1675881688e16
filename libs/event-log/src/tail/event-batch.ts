import type { StoredEvent } from '../event-log.port.js';
import type { Position } from '../read/cursor.js';

/**
 * Events of one view that are delivered together. All subscribers of the view get the same batch object, so that a transport
 * renders it once: see `shared`.
 */
export class EventBatch {
  private readonly renderings = new Map<string, Buffer>();
  private joined: string | undefined;
  private chars: number | undefined;

  private eachCursor: readonly string[] | undefined;

  /** `cursor` continues after the last event. */
  constructor(
    readonly events: readonly StoredEvent[],
    readonly cursor: string,
    private readonly makeCursors: () => readonly string[],
  ) {}

  /** Cursor of each event, for transports that number them one by one. */
  get cursors(): readonly string[] {
    return (this.eachCursor ??= this.makeCursors());
  }

  /** JSON texts of the envelopes, joined by commas. */
  get text(): string {
    return (this.joined ??= this.events.map(({ json }) => json).join(','));
  }

  /** Characters of the envelopes, a sufficient estimate of bytes for limits. */
  get size(): number {
    return (this.chars ??= this.events.reduce((sum, { size }) => sum + size, 0));
  }

  /** Result of `render` for this batch, computed once for each `key`. */
  shared(key: string, render: (batch: EventBatch) => string): Buffer {
    let bytes = this.renderings.get(key);
    if (bytes === undefined) {
      bytes = Buffer.from(render(this));
      this.renderings.set(key, bytes);
    }
    return bytes;
  }
}

/** Formats positions as a cursor of the subscription's kind. */
export type CursorFormat = (positions: readonly Position[]) => string;

/**
 * Splits the events into batches of at most `maxChars`, with cursors from `start` on. The last cursor is `end` if given (a
 * reader of many partitions may be past its last event), else that of the last event.
 */
export function batchesOf(
  events: readonly StoredEvent[],
  start: readonly Position[],
  end: readonly Position[] | undefined,
  format: CursorFormat,
  maxChars: number,
): EventBatch[] {
  const cut = chunks(events, maxChars);
  let from = start;
  return cut.map((piece, index) => {
    const before = from;
    const after = (index === cut.length - 1 ? end : undefined) ?? through(before, piece);
    from = after;
    const cursor = format(after);
    return new EventBatch(piece, cursor, () => [...cursorsWithin(before, piece.slice(0, -1), format), cursor]);
  });
}

function cursorsWithin(start: readonly Position[], events: readonly StoredEvent[], format: CursorFormat): string[] {
  const positions = [...start];
  return events.map(({ partition, epoch, seq }) => {
    positions[Number(partition)] = { epoch, seq };
    return format(positions);
  });
}

function through(start: readonly Position[], events: readonly StoredEvent[]): Position[] {
  const positions = [...start];
  for (const { partition, epoch, seq } of events) positions[Number(partition)] = { epoch, seq };
  return positions;
}

/** Cuts a run of events into pieces of at most `maxChars` (a single larger event stands alone). */
function chunks(events: readonly StoredEvent[], maxChars: number): StoredEvent[][] {
  const cut: StoredEvent[][] = [];
  let piece: StoredEvent[] = [];
  let chars = 0;
  for (const event of events) {
    if (piece.length > 0 && chars + event.size > maxChars) {
      cut.push(piece);
      piece = [];
      chars = 0;
    }
    piece.push(event);
    chars += event.size;
  }
  if (piece.length > 0) cut.push(piece);
  return cut;
}
