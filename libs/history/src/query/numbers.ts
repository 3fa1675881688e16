import { sql } from 'kysely';
import { STATS, type FailurePage, type Percentiles, type PeriodQuery, type Stats, type StatsQuery, type ToolStatsPage } from '#contracts';
import type { LogSource } from '../log-source.port.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { CallSums, NO_ENDS, type Grouping } from './call-sums.js';
import { failureGroups } from './failure-groups.js';
import { liveCounts } from './live-counts.js';
import { behindOf } from './log-tail.js';
import { partsOf } from './period-parts.js';
import { roundedPeriod, seriesPeriod } from './period.js';

/** Numbers over time, by tool, and by kind of failure, from the rows; each answer contains their lag behind the log. */
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
      // `date_part` returns a float: the numeric of `extract` costs three times as much. Ends of steps are whole seconds.
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
    const failures = await failureGroups(this.db, tenantId, period);
    return { since: iso(period.since), until: iso(period.until), failures, ...(behind === undefined ? {} : { behind }) };
  }

  /** Reads sums of hours and rows at one state of the database, in which they match. */
  private snapshot<Answer>(ask: (db: HistoryDatabase) => Promise<Answer>): Promise<Answer> {
    return this.db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(ask);
  }
}

const NO_DURATIONS: Percentiles = { count: 0 };

function iso(time: number): string {
  return new Date(time).toISOString();
}
