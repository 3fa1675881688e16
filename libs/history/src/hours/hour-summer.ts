import { sql } from 'kysely';
import { HistoryUnavailable, type HistoryDatabase } from '../database/history-database.js';
import type { LogSource } from '../log-source.port.js';
import { behindOf } from '../query/log-tail.js';
import { sumHour } from './sum-hour.js';

export interface HourSummerOptions {
  readonly db: HistoryDatabase;
  readonly log: LogSource;
  readonly partitions: number;
  readonly now?: () => number;
}

const HOUR_MS = 3_600_000;
/** Delay after its end before an hour is summed: a later change of the hour requires a new summation. */
const SETTLED_MS = 5 * 60_000;
/** Hours that are summed after one check of the projectors. */
const HOURS = 24;

/**
 * Sums the calls of each past hour, the newest first. The sums of an hour always equal those of its rows: they are marked as
 * complete in the transaction that makes them, and a transaction that changes rows of a marked hour deletes mark and sums. For
 * this each must see the changes of the other:
 *
 * 1. The mark is committed, so that writers find it. 2. Waits for earlier batches, each of which holds the row of its
 * partition's position. 3. The hour is summed and its mark completed, unless a writer has deleted the mark meanwhile.
 */
export class HourSummer {
  constructor(private readonly options: HourSummerOptions) {}

  /**
   * Sums at most 24 hours; returns true if there may be more. Sums none while the rows are far behind the log, or while a
   * rebuild locks some.
   */
  async round(signal?: AbortSignal): Promise<boolean> {
    try {
      return await this.sumMissing(signal);
    } catch (error) {
      if (isLocked(error)) return false;
      throw error;
    }
  }

  private async sumMissing(signal: AbortSignal | undefined): Promise<boolean> {
    const { db, log, partitions, now = Date.now } = this.options;
    const lag = await behindOf(db, log, partitions);
    if (lag !== undefined && lag.ms > SETTLED_MS / 2) return false;
    const hours = await this.missing(now() - SETTLED_MS - HOUR_MS);
    if (hours.length === 0) return false;
    await db
      .insertInto('summed_hours')
      .values(hours.map((hour) => ({ hour })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await this.waitForBatches();
    for (const hour of hours) {
      if (signal?.aborted === true) return false;
      await sumHour(db, hour);
    }
    return hours.length === HOURS;
  }

  /** Hours of the weeks that have a table, up to the one that begins at `until`. */
  private async missing(until: number): Promise<Date[]> {
    const { rows } = await sql<{ hour: Date }>`
      select hour from pg_inherits join pg_class on pg_class.oid = inhrelid,
        to_timestamp(substring(relname from '^calls_(\\d{4}_\\d\\d_\\d\\d)$'), 'YYYY_MM_DD') as week,
        generate_series(week, week + interval '7 days' - interval '1 hour', interval '1 hour') as hour
      where inhparent = 'calls'::regclass and hour <= ${new Date(until)}::timestamptz
        and not exists (select from summed_hours where summed_hours.hour = hour.hour and complete)
      order by hour desc limit ${HOURS}`.execute(this.options.db);
    return rows.map(({ hour }) => hour);
  }

  /** Locks all positions in the order of their names, like other multiple locks. Rejects while a rebuild holds one. */
  private async waitForBatches(): Promise<void> {
    await this.options.db.transaction().execute(async (transaction) => {
      await sql`set local lock_timeout = '2s'`.execute(transaction);
      await transaction.selectFrom('positions').select('partition').orderBy('partition').forShare().execute();
    });
  }
}

/** True while a rebuild holds a partition: a later round finds the same hours. */
function isLocked(error: unknown): boolean {
  return error instanceof HistoryUnavailable && error.code === '55P03';
}
