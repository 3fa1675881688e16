import { sql } from 'kysely';
import {
  STATS,
  type CallErrorCode,
  type FailurePage,
  type Percentiles,
  type PeriodQuery,
  type Stats,
  type StatsQuery,
  type ToolStatsPage,
} from '#contracts';
import type { LogSource } from '../log-source.port.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { CallSums, NO_ENDS, within, type Grouping } from './call-sums.js';
import { liveCounts } from './live-counts.js';
import { behindOf } from './log-tail.js';
import { partsOf } from './period-parts.js';
import { roundedPeriod, seriesPeriod } from './period.js';

/** Numbers over time, by tool, and by kind of failure. They are of the rows; each answer says how far these are behind the log. */
export class Numbers {
  constructor(
    private readonly db: HistoryDatabase,
    private readonly log: LogSource,
    private readonly partitions: number,
    private readonly now: () => number = Date.now,
  ) {}

  async stats(tenantId: string, query: StatsQuery): Promise<Stats> {
    const { stepMs, ...period } = seriesPeriod(query, this.now());
    const behind = await behindOf(this.db, this.log, this.partitions);
    const step: Grouping<number> = (at) =>
      // As a float: `extract` gives a numeric, which costs three times as much. Ends of steps are whole seconds.
      sql`floor((date_part('epoch', ${at}) - ${sql.lit(period.since / 1_000)}) / ${sql.lit(stepMs / 1_000)})::int`;
    const { submitted, ends, waits, runs, now } = await this.snapshot(async (db) => {
      const sums = new CallSums(db, tenantId, await partsOf(db, period, stepMs), step);
      return {
        submitted: await sums.submitted(),
        ends: await sums.ends(),
        waits: await sums.durations('wait'),
        runs: await sums.durations('run'),
        now: await liveCounts(db, tenantId),
      };
    });
    const series = Array.from({ length: Math.round((period.until - period.since) / stepMs) }, (_, n) => ({
      at: iso(period.since + n * stepMs),
      submitted: submitted.get(n) ?? 0,
      ...(ends.get(n) ?? NO_ENDS),
      wait: waits.get(n) ?? NO_DURATIONS,
      run: runs.get(n) ?? NO_DURATIONS,
    }));
    return { since: iso(period.since), until: iso(period.until), stepMs, series, now, ...(behind === undefined ? {} : { behind }) };
  }

  async tools(tenantId: string, query: PeriodQuery): Promise<ToolStatsPage> {
    const period = roundedPeriod(query, this.now());
    const behind = await behindOf(this.db, this.log, this.partitions);
    const { ends, waits, runs } = await this.snapshot(async (db) => {
      const sums = new CallSums(db, tenantId, await partsOf(db, period), () => sql<string>`tool`);
      return { ends: await sums.ends(), waits: await sums.durations('wait'), runs: await sums.durations('run') };
    });
    const rows = [...ends].map(([name, { ended, ...rest }]) => ({
      tool: name,
      calls: ended,
      errorRate: ended === 0 ? 0 : rest.failed / ended,
      ...rest,
      wait: waits.get(name) ?? NO_DURATIONS,
      run: runs.get(name) ?? NO_DURATIONS,
    }));
    rows.sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
    const tools = rows.slice(0, STATS.groups);
    return { since: iso(period.since), until: iso(period.until), tools, ...(behind === undefined ? {} : { behind }) };
  }

  async failures(tenantId: string, query: PeriodQuery): Promise<FailurePage> {
    const period = roundedPeriod(query, this.now());
    const behind = await behindOf(this.db, this.log, this.partitions);
    const { rows } = await sql<FailureRow>`
      with kinds as (
        select fingerprint, count(*) as calls, min(ended_at) as first_at, max(ended_at) as last_at from calls
        where tenant_id = ${tenantId} and fingerprint is not null and ${within('ended_at', period)}
        group by fingerprint order by calls desc, last_at desc limit ${STATS.groups})
      select kinds.*, newest.* from kinds cross join lateral (
        select id, tool, error_code, coalesce(error_message, note, '') as message from calls
        where tenant_id = ${tenantId} and fingerprint = kinds.fingerprint and ended_at = kinds.last_at
        order by id desc limit 1) as newest
      order by calls desc, last_at desc`.execute(this.db);
    const failures = rows.map((row) => ({
      fingerprint: row.fingerprint,
      tool: row.tool,
      ...(row.error_code === null ? {} : { code: row.error_code }),
      message: row.message,
      count: row.calls,
      firstSeen: row.first_at.toISOString(),
      lastSeen: row.last_at.toISOString(),
      lastCallId: row.id,
    }));
    return { since: iso(period.since), until: iso(period.until), failures, ...(behind === undefined ? {} : { behind }) };
  }

  /** Sums of hours and rows belong together only in one state of the database. */
  private snapshot<Answer>(ask: (db: HistoryDatabase) => Promise<Answer>): Promise<Answer> {
    return this.db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(ask);
  }
}

const NO_DURATIONS: Percentiles = { count: 0 };

interface FailureRow {
  readonly fingerprint: string;
  readonly calls: number;
  readonly first_at: Date;
  readonly last_at: Date;
  readonly id: string;
  readonly tool: string;
  readonly error_code: CallErrorCode | null;
  readonly message: string;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
