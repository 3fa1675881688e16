import { sql } from 'kysely';
import { forgetAllHours } from '../hours/forget-hours.js';
import type { LogEntry, LogSource } from '../log-source.port.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { missingEvents, sortEvents, type SkippedEvent } from '../rows/event-shape.js';
import { foldEvents } from '../rows/fold-events.js';
import { writeActs } from './write-acts.js';
import type { Skipped } from './write-calls.js';
import { ensureWeeks, writeChanges } from './write-changes.js';

export interface Advance {
  readonly entries: number;
  /** `taken`: another projector works on the partition. */
  readonly state: 'end_of_log' | 'more' | 'taken';
  /** From the time of its oldest event to now. */
  readonly lagMs: number;
  /** Events that are in no row. */
  readonly skipped: readonly SkippedEvent[];
}

/** Where reading begins: before the first event of a log. */
const START = { epoch: 0, seq: 0, mark: '' };

interface Position {
  readonly epoch: number;
  readonly seq: number;
  readonly mark: string;
}

/**
 * Brings the rows of one partition of the log up to date. One step reads some events behind the position, and writes the rows
 * and the new position in one transaction: a projector that dies in between has done nothing. The row of the position is
 * locked meanwhile, so of several projectors one works on a partition.
 */
export class PartitionProjection {
  private readonly weeks = new Set<string>();

  constructor(
    private readonly db: HistoryDatabase,
    private readonly log: LogSource,
    private readonly partition: string,
    private readonly batch: number,
    private readonly skipped: Skipped,
  ) {}

  /** `end`: the newest event. Rejects when Redis or the database is out of reach; nothing has changed then. */
  async advance(end: number): Promise<Advance> {
    return this.db.transaction().execute(async (transaction) => {
      const position = await this.lock(transaction);
      if (position === undefined) return { entries: 0, state: 'taken', lagMs: 0, skipped: [] };
      // The event at the position is read again to see that it is the same; there is none at the start.
      const { epoch, entries } = await this.log.read(this.partition, Math.max(1, position.seq), this.batch + 1);
      if (position.epoch === 0) return this.project(transaction, epoch, 0, entries, end);
      if (epoch !== position.epoch || !(await this.continues(position, entries))) {
        await this.empty(transaction);
        return { entries: 0, state: 'more', lagMs: 0, skipped: [] };
      }
      return this.project(
        transaction,
        epoch,
        position.seq,
        entries.filter(({ seq }) => seq > position.seq),
        end,
      );
    });
  }

  /**
   * Makes all rows of the partition again. One transaction: readers have the old rows until all new ones are there, and nothing
   * has changed when it rejects. Waits for the projector that works on the partition; others leave it alone meanwhile.
   * `first` is called with the partition locked, and may reject.
   */
  async rebuild(first: () => Promise<unknown>, signal?: AbortSignal): Promise<Pick<Advance, 'entries' | 'skipped'>> {
    // Committed before, so that projectors see the row and leave it alone.
    await this.db
      .insertInto('positions')
      .values({ partition: this.partition, ...START })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return this.db.transaction().execute(async (transaction) => {
      await transaction.selectFrom('positions').select('seq').where('partition', '=', this.partition).forUpdate().execute();
      await first();
      await this.empty(transaction);
      const skipped: SkippedEvent[] = [];
      for (let entries = 0, seq = 0; ;) {
        signal?.throwIfAborted();
        const { epoch, entries: read } = await this.log.read(this.partition, seq + 1, this.batch);
        const step = await this.project(transaction, epoch, seq, read, Infinity);
        skipped.push(...step.skipped);
        entries += step.entries;
        seq = read.at(-1)?.seq ?? seq;
        if (read.length === 0) return { entries, skipped };
      }
    });
  }

  /** Undefined while another projector works on the partition. */
  private async lock(transaction: HistoryDatabase): Promise<Position | undefined> {
    const found = await transaction
      .selectFrom('positions')
      .select(['epoch', 'seq', 'mark'])
      .where('partition', '=', this.partition)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (found !== undefined) return found;
    // Missing or locked. An insert would wait for who holds the lock, and a rebuild holds it for long.
    const present = await transaction.selectFrom('positions').select('seq').where('partition', '=', this.partition).executeTakeFirst();
    if (present !== undefined) return undefined;
    const inserted = await transaction
      .insertInto('positions')
      .values({ partition: this.partition, ...START })
      .onConflict((conflict) => conflict.doNothing())
      .returning(['epoch', 'seq', 'mark'])
      .executeTakeFirst();
    return inserted;
  }

  /** Whether the log still is the one that was read; its beginning may have been trimmed away, which changes nothing here. */
  private async continues({ seq, mark }: Position, [first]: readonly LogEntry[]): Promise<boolean> {
    if (seq === 0) return true;
    if (first?.seq === seq) return first.mark === mark;
    return (await this.log.end(this.partition)) >= seq;
  }

  /** `entries` follow the event `after`. */
  private async project(
    transaction: HistoryDatabase,
    epoch: number,
    after: number,
    entries: readonly LogEntry[],
    end: number,
  ): Promise<Advance> {
    const last = entries.at(-1);
    if (last === undefined) return { entries: 0, state: 'end_of_log', lagMs: 0, skipped: [] };
    const { events, skipped } = sortEvents(this.partition, epoch, entries);
    const changes = await foldEvents(transaction, events);
    await ensureWeeks(this.db, this.weeks, changes.keys());
    await writeChanges(transaction, this.partition, [...changes.values()], this.skipped);
    await writeActs(transaction, this.partition, entries);
    await transaction
      .updateTable('positions')
      .set({ epoch, seq: last.seq, mark: last.mark, updated_at: sql`now()` })
      .where('partition', '=', this.partition)
      .execute();
    const [oldest] = events;
    const lagMs = oldest === undefined ? 0 : Math.max(0, Date.now() - Date.parse(oldest.time));
    const missing = await this.missingEvents(epoch, after, entries);
    return { entries: entries.length, state: last.seq >= end ? 'end_of_log' : 'more', lagMs, skipped: [...missing, ...skipped] };
  }

  /** Those between the entries; none where retention has dropped them. */
  private async missingEvents(epoch: number, after: number, entries: readonly LogEntry[]): Promise<SkippedEvent[]> {
    const missing = missingEvents(this.partition, epoch, after, entries);
    if (missing.length === 0) return missing;
    const dropped = (await this.log.dropped?.(this.partition)) ?? 0;
    return missingEvents(this.partition, epoch, Math.max(after, dropped), entries);
  }

  /** Another log, or one that lost its end: the rows of the partition are made again. */
  private async empty(transaction: HistoryDatabase): Promise<void> {
    this.weeks.clear();
    for (const table of ['calls', 'sessions', 'totals', 'acts'] as const)
      await transaction.deleteFrom(table).where('partition', '=', this.partition).execute();
    await forgetAllHours(transaction);
    await transaction.updateTable('positions').set(START).where('partition', '=', this.partition).execute();
  }
}
