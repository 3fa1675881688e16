import { sql } from 'kysely';
import { HistoryUnavailable, type HistoryDatabase } from '../database/history-database.js';
import { nextWeek } from '../rows/call-row.js';
import { deleteExpired, dropWeek, type Expiry } from './delete-calls.js';
import { deleteActs } from './delete-acts.js';
import { cutoffOf, settingsOf, type RetentionPolicy } from './retention-policy.js';

export interface RetentionOptions {
  readonly db: HistoryDatabase;
  /** Called before each round. Its error rejects the round before any deletion. */
  readonly policy: () => RetentionPolicy;
  readonly now?: () => number;
  /** Most rows that one transaction deletes. */
  readonly batch?: number;
}

const BATCH = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** Deletes the rows of expired calls: whole weeks if all of their calls have expired, else in batches. */
export class HistoryRetention {
  constructor(private readonly options: RetentionOptions) {}

  /**
   * Deletes all expired rows. `calls` does not include those of whole weeks. @throws Error on abort, or if a query or a rebuild
   * locks rows; all others are deleted
   */
  async round(signal?: AbortSignal): Promise<{ readonly calls: number; readonly weeks: number }> {
    const { db, policy, now = Date.now, batch = BATCH } = this.options;
    const rules = policy();
    const time = now();
    const { rows: tenants } = await sql<{ tenant_id: string }>`select distinct tenant_id from totals`.execute(db);
    const expiries = tenants.flatMap(({ tenant_id: tenantId }): Expiry[] => {
      const before = cutoffOf(rules, tenantId, time);
      const { heldSessions = [], heldAgents = [] } = settingsOf(rules, tenantId);
      return before === undefined ? [] : [{ tenantId, before, heldSessions, heldAgents }];
    });
    await deleteActs(db, rules, time);
    if (expiries.length === 0) return { calls: 0, weeks: 0 };
    const locked: unknown[] = [];
    const unlessLocked = (error: unknown): 0 => {
      if (!isLocked(error)) throw error;
      locked.push(error);
      return 0;
    };
    const weeks = await this.dropWeeks(expiries, unlessLocked, signal);
    let calls = 0;
    for (const expiry of expiries) {
      for (let deleted = batch; deleted === batch && signal?.aborted !== true; calls += deleted) {
        deleted = await deleteExpired(db, expiry, batch).catch(unlessLocked);
      }
    }
    signal?.throwIfAborted();
    if (locked.length > 0) throw new Error('locked rows of expired calls remain until the next round', { cause: locked[0] });
    return { calls, weeks };
  }

  private async dropWeeks(
    expiries: readonly Expiry[],
    unlessLocked: (error: unknown) => 0,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const { db } = this.options;
    const newest = Math.max(...expiries.map(({ before }) => before.getTime()));
    const { rows } = await sql<{ table: string }>`
      select relname as table from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'calls'::regclass order by relname`.execute(db);
    let dropped = 0;
    for (const { table } of rows) {
      const week = /^calls_(\d{4})_(\d\d)_(\d\d)$/.exec(table)?.slice(1).join('-');
      if (week === undefined || Date.parse(nextWeek(week)) > newest || signal?.aborted === true) continue;
      dropped += await dropWeek(db, table, expiries).catch(unlessLocked);
    }
    return dropped;
  }
}

/** True if a query or a rebuild locks the table or a partition: the next round deletes the rest. */
function isLocked(error: unknown): boolean {
  return error instanceof HistoryUnavailable && error.code === LOCK_NOT_AVAILABLE;
}
