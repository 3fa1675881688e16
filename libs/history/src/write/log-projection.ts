import { forgetAllHours } from '../hours/forget-hours.js';
import type { LogEntry, LogSource } from '../log-source.port.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { missingEvents, sortEvents, type SkippedEvent } from '../rows/event-shape.js';
import { foldEvents } from '../rows/fold-events.js';
import { lockPositions, movePositions, START, type Position } from './positions.js';
import { writeActs } from './write-acts.js';
import type { Skipped } from './write-calls.js';
import { ensureWeeks, writeChanges } from './write-changes.js';

export interface Advance {
  readonly entries: number;
  /** Result of a step. `taken`: another projector works on the partition. */
  readonly state: 'end_of_log' | 'more' | 'taken';
  /** Age of its oldest event. */
  readonly lagMs: number;
  /** Events that are not in the rows. */
  readonly skipped: readonly SkippedEvent[];
}

/** Entries of one partition that follow the event `after`. */
interface Batch {
  readonly partition: string;
  readonly epoch: number;
  readonly after: number;
  readonly entries: readonly LogEntry[];
}

/** Result of a batch. */
type Projected = Pick<Advance, 'lagMs' | 'skipped'>;

/**
 * Brings the rows of partitions of the log up to date. A step reads some events after the positions of its partitions, and
 * writes the rows and the new positions in one transaction, so that a crash leaves no trace. The rows of the positions are
 * locked meanwhile, so that only one projector works on a partition.
 */
export class LogProjection {
  /** `batch`: most entries of a partition in a step. */
  constructor(
    private readonly db: HistoryDatabase,
    private readonly log: LogSource,
    private readonly batch: number,
    private readonly skipped: Skipped,
  ) {}

  /** `ends`: newest event by partition. Rejects, without changes, if Redis or the database is unreachable. */
  async advance(ends: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, Advance>> {
    return this.db.transaction().execute(async (transaction) => {
      const positions = await lockPositions(transaction, [...ends.keys()]);
      const read = await Promise.all(positions.map((position) => this.read(position)));
      const batches = read.filter((batch) => batch !== undefined);
      const others = positions.filter((_, index) => read[index] === undefined);
      for (const { partition } of others) await this.empty(transaction, partition);
      const projected = await this.project(transaction, batches);
      return new Map([
        ...[...ends.keys()].map((partition) => [partition, nothing('taken')] as const),
        ...others.map(({ partition }) => [partition, nothing('more')] as const),
        ...batches.map((batch, index) => [batch.partition, advanceOf(batch, ends.get(batch.partition), projected[index])] as const),
      ]);
    });
  }

  /**
   * Rebuilds all rows of a partition in one transaction: readers see the old rows until all new ones are complete, and a
   * rejection changes nothing. Waits for the projector that works on the partition; others skip it meanwhile. `first` is called
   * with the partition locked, and may reject.
   */
  async rebuild(partition: string, first: () => Promise<unknown>, signal?: AbortSignal): Promise<Pick<Advance, 'entries' | 'skipped'>> {
    // Committed before, so that projectors see the row and skip it.
    await this.db
      .insertInto('positions')
      .values({ partition, ...START })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return this.db.transaction().execute(async (transaction) => {
      await transaction.selectFrom('positions').select('seq').where('partition', '=', partition).forUpdate().execute();
      await first();
      await this.empty(transaction, partition);
      const skipped: SkippedEvent[] = [];
      for (let count = 0, after = 0; ;) {
        signal?.throwIfAborted();
        const { epoch, entries } = await this.log.read(partition, after + 1, this.batch);
        const [projected] = await this.project(transaction, [{ partition, epoch, after, entries }]);
        skipped.push(...(projected?.skipped ?? []));
        count += entries.length;
        after = entries.at(-1)?.seq ?? after;
        if (entries.length === 0) return { entries: count, skipped };
      }
    });
  }

  /** Reads the entries after a position. Undefined if the log is not the one that was read up to there. */
  private async read(position: Position): Promise<Batch | undefined> {
    const { partition, seq: after } = position;
    // Reads the event at the position again to compare it; there is none at the start.
    const { epoch, entries } = await this.log.read(partition, Math.max(1, after), this.batch + 1);
    if (position.epoch === 0) return { partition, epoch, after: 0, entries };
    if (epoch !== position.epoch || !(await this.continues(position, entries))) return undefined;
    return { partition, epoch, after, entries: entries.filter(({ seq }) => seq > after) };
  }

  /** True if the log is still the one that was read; a trimmed beginning does not matter. */
  private async continues({ partition, seq, mark }: Position, [first]: readonly LogEntry[]): Promise<boolean> {
    if (seq === 0) return true;
    if (first?.seq === seq) return first.mark === mark;
    return (await this.log.end(partition)) >= seq;
  }

  private async project(transaction: HistoryDatabase, batches: readonly Batch[]): Promise<Projected[]> {
    const sorted = batches.map((batch) => ({ batch, ...sortEvents(batch.partition, batch.epoch, batch.entries) }));
    const moved = batches.flatMap(({ partition, epoch, entries }) => {
      const last = entries.at(-1);
      return last === undefined ? [] : [{ partition, epoch, seq: last.seq, mark: last.mark }];
    });
    if (moved.length === 0) return [];
    const partitionOf = new Map<string, string>();
    for (const { batch, events } of sorted) for (const { subject } of events) partitionOf.set(subject, batch.partition);
    const changes = await foldEvents(
      transaction,
      sorted.flatMap(({ events }) => events),
    );
    await ensureWeeks(this.db, transaction, changes.keys());
    const placed = [...changes].map(([callId, change]) => ({ ...change, partition: partitionOf.get(callId) ?? '' }));
    await writeChanges(transaction, placed, this.skipped);
    for (const { partition, entries } of batches) await writeActs(transaction, partition, entries);
    await movePositions(transaction, moved);
    return Promise.all(
      sorted.map(async ({ batch, events: [oldest], skipped }) => ({
        lagMs: oldest === undefined ? 0 : Math.max(0, Date.now() - Date.parse(oldest.time)),
        skipped: [...(await this.missingEvents(batch)), ...skipped],
      })),
    );
  }

  /** Missing events between the entries, except those that retention has dropped. */
  private async missingEvents({ partition, epoch, after, entries }: Batch): Promise<SkippedEvent[]> {
    const missing = missingEvents(partition, epoch, after, entries);
    if (missing.length === 0) return missing;
    const dropped = (await this.log.dropped?.(partition)) ?? 0;
    return missingEvents(partition, epoch, Math.max(after, dropped), entries);
  }

  /** Deletes the rows of a partition for a rebuild, after its log was replaced or lost its end. */
  private async empty(transaction: HistoryDatabase, partition: string): Promise<void> {
    for (const table of ['calls', 'sessions', 'totals', 'acts'] as const)
      await transaction.deleteFrom(table).where('partition', '=', partition).execute();
    await forgetAllHours(transaction);
    await transaction.updateTable('positions').set(START).where('partition', '=', partition).execute();
  }
}

function nothing(state: Advance['state']): Advance {
  return { entries: 0, state, lagMs: 0, skipped: [] };
}

/** `end`: newest event of the partition. */
function advanceOf({ entries }: Batch, end = 0, projected: Projected = nothing('end_of_log')): Advance {
  const last = entries.at(-1);
  if (last === undefined) return nothing('end_of_log');
  return { ...projected, entries: entries.length, state: last.seq >= end ? 'end_of_log' : 'more' };
}
