import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { telemetry } from '#observability';
import { HistoryUnavailable, type HistoryDatabase } from '../database/history-database.js';
import { nextWeek } from '../rows/call-row.js';
import { deleteExpired, dropWeek, type Expiry } from './delete-calls.js';
import { deleteActs } from './delete-acts.js';
import { cutoffOf, settingsOf, type RetentionPolicy } from './retention-policy.js';

export interface RetentionOptions {
  readonly db: HistoryDatabase;
  /** Asked before each round. What it throws goes to `onError`, and nothing is deleted. */
  readonly policy: () => RetentionPolicy;
  readonly onError: (error: unknown) => void;
  readonly now?: () => number;
  /** Rows that one transaction deletes. */
  readonly batch?: number;
}

const PERIOD_MS = 3_600_000;
const BATCH = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** Deletes the rows of calls that ended long ago: whole weeks where nothing of them is kept, else batch by batch. */
export class HistoryRetention {
  private readonly stopped = new AbortController();
  private running: Promise<void> | undefined;

  constructor(private readonly options: RetentionOptions) {}

  start(): void {
    this.running ??= this.run();
  }

  /** Waits for the batch under way. Idempotent. Never rejects. */
  async close(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  /**
   * Deletes all that has expired; how many calls, those of whole weeks not counted.
   * @throws Error when rows stay, though all else is deleted, since a question or a rebuild locks them, or this is closed
   */
  async round(): Promise<{ readonly calls: number; readonly weeks: number }> {
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
    const weeks = await this.dropWeeks(expiries, unlessLocked);
    let calls = 0;
    for (const expiry of expiries) {
      for (let deleted = batch; deleted === batch && !this.stopped.signal.aborted; calls += deleted) {
        deleted = await deleteExpired(db, expiry, batch).catch(unlessLocked);
      }
    }
    this.stopped.signal.throwIfAborted();
    if (locked.length > 0)
      throw new Error('rows of calls that have expired are locked and stay until the next round', { cause: locked[0] });
    return { calls, weeks };
  }

  private async dropWeeks(expiries: readonly Expiry[], unlessLocked: (error: unknown) => 0): Promise<number> {
    const { db } = this.options;
    const newest = Math.max(...expiries.map(({ before }) => before.getTime()));
    const { rows } = await sql<{ table: string }>`
      select relname as table from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'calls'::regclass order by relname`.execute(db);
    let dropped = 0;
    for (const { table } of rows) {
      const week = /^calls_(\d{4})_(\d\d)_(\d\d)$/.exec(table)?.slice(1).join('-');
      if (week === undefined || Date.parse(nextWeek(week)) > newest || this.stopped.signal.aborted) continue;
      dropped += await dropWeek(db, table, expiries).catch(unlessLocked);
    }
    return dropped;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      try {
        const { calls, weeks } = await this.round();
        telemetry.historyRetained.emit({ ok: true, calls, weeks });
      } catch (error) {
        if (signal.aborted) return;
        telemetry.historyRetained.emit({ ok: false, calls: 0, weeks: 0 });
        this.options.onError(error);
      }
      await sleep(PERIOD_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** A question or a rebuild holds the table or a partition: the next round deletes what is left. */
function isLocked(error: unknown): boolean {
  return error instanceof HistoryUnavailable && error.code === LOCK_NOT_AVAILABLE;
}
