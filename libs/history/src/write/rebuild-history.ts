import { partitionNames } from '#redis';
import type { HistoryDatabase } from '../database/history-database.js';
import type { EventSource } from '../log-source.port.js';
import type { SkippedEvent } from '../rows/event-shape.js';
import { LogProjection } from './log-projection.js';
import type { Skipped } from './write-calls.js';

export interface RebuildOptions {
  readonly db: HistoryDatabase;
  readonly source: EventSource;
  readonly partitions: number;
  /** Called when the rows of a partition are the new ones. */
  readonly onPartition?: (partition: RebuiltPartition) => void;
  /** Called for a call that stays out of lists, since the database refuses its row. */
  readonly onSkipped?: Skipped;
  /** Ends it between two batches; the partition under way keeps its old rows. */
  readonly signal?: AbortSignal;
  /** Events in a step. */
  readonly batch?: number;
}

export interface RebuiltPartition {
  readonly partition: string;
  /** Entries that were read, those without effect included. */
  readonly entries: number;
  readonly skipped: readonly SkippedEvent[];
}

const BATCH = 2_000;

/** Rows cannot be made again, as the source lacks the beginning of the log. */
export class EventsMissing extends Error {
  override readonly name = 'EventsMissing';

  constructor(
    readonly partition: string,
    readonly first: number,
  ) {
    super(
      `The log of partition ${partition} begins with event ${first}: events before it were trimmed, and without them calls would be missing. ` +
        'The rows of this partition are unchanged.',
    );
  }
}

/**
 * Makes all rows again from the events, one partition after the other. Gateways go on answering: from the old rows of a partition
 * until the new ones are complete. Projectors may run.
 *
 * @throws EventsMissing
 */
export async function rebuildHistory(options: RebuildOptions): Promise<void> {
  const { db, source, partitions, onPartition, onSkipped, signal, batch = BATCH } = options;
  const projection = new LogProjection(db, source, batch, (callId, error) => onSkipped?.(callId, error));
  for (const partition of partitionNames(partitions)) {
    signal?.throwIfAborted();
    const complete = async () => {
      const first = await source.first(partition);
      if (first > ((await source.dropped?.(partition)) ?? 0) + 1) throw new EventsMissing(partition, first);
    };
    const rebuilt = await projection.rebuild(partition, complete, signal);
    onPartition?.({ partition, ...rebuilt });
  }
}
