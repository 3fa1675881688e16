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
  /** Called after the rows of a partition were replaced. */
  readonly onPartition?: (partition: RebuiltPartition) => void;
  /** Called for a call whose row the database refuses, which is then missing from lists. */
  readonly onSkipped?: Skipped;
  /** Ends the rebuild between two batches; the partition under way keeps its old rows. */
  readonly signal?: AbortSignal;
  /** Most events in a step. */
  readonly batch?: number;
}

export interface RebuiltPartition {
  readonly partition: string;
  /** Entries that were read, including those without effect. */
  readonly entries: number;
  readonly skipped: readonly SkippedEvent[];
}

const BATCH = 2_000;

/** The source lacks the beginning of the log, so rows cannot be rebuilt. */
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
 * Rebuilds all rows from the events, one partition after the other. Gateways continue to answer, from the old rows of a
 * partition until the new ones are complete. Projectors may run.
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
