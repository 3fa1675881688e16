import { sql, type RawBuilder } from 'kysely';
import {
  STATS,
  type CallErrorCode,
  type CallOutcome,
  type FailurePage,
  type Percentiles,
  type PeriodQuery,
  type Stats,
  type StatsQuery,
  type ToolStatsPage,
} from '#contracts';
import type { LogSource } from '../log-source.port.js';
import { isFailedOutcome } from '../record/call-record.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { liveCounts } from './live-counts.js';
import { behindOf } from './log-tail.js';
import { roundedPeriod, seriesPeriod, type Period } from './period.js';

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
    const step = (column: 'submitted_at' | 'started_at' | 'ended_at') =>
      sql<number>`floor(extract(epoch from (${sql.ref(column)} - ${iso(period.since)}::timestamptz)) * 1000 / ${stepMs})::int`;
    const [submitted, ends, waits, runs, now] = await Promise.all([
      this.submitted(tenantId, period, step('submitted_at')),
      this.ends(tenantId, period, step('ended_at')),
      this.durations(tenantId, period, 'wait_ms', 'started_at', step('started_at')),
      this.durations(tenantId, period, 'run_ms', 'ended_at', step('ended_at')),
      liveCounts(this.db, tenantId),
    ]);
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
    const tool = sql<string>`tool`;
    const [ends, waits, runs] = await Promise.all([
      this.ends(tenantId, period, tool),
      this.durations(tenantId, period, 'wait_ms', 'started_at', tool),
      this.durations(tenantId, period, 'run_ms', 'ended_at', tool),
    ]);
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

  private async submitted(tenantId: string, period: Period, group: RawBuilder<number>): Promise<Map<number, number>> {
    const { rows } = await sql<{ group: number; calls: number }>`
      select ${group} as "group", count(*) as calls from calls
      where tenant_id = ${tenantId} and ${within('submitted_at', period)} group by 1`.execute(this.db);
    return new Map(rows.map((row) => [row.group, row.calls]));
  }

  private async ends<Group>(tenantId: string, period: Period, group: RawBuilder<Group>): Promise<Map<Group, Ends>> {
    const { rows } = await sql<{ group: Group; outcome: CallOutcome; calls: number; errors: number }>`
      select ${group} as "group", outcome, count(*) as calls, count(*) filter (where error_result) as errors from calls
      where tenant_id = ${tenantId} and ${within('ended_at', period)} group by 1, 2 order by 1, 2`.execute(this.db);
    const groups = new Map<Group, Ends>();
    for (const { group: name, outcome, calls, errors } of rows) {
      const sum = groups.get(name) ?? NO_ENDS;
      groups.set(name, {
        ended: sum.ended + calls,
        failed: sum.failed + (isFailedOutcome(outcome) ? calls : errors),
        errors: sum.errors + errors,
        outcomes: { ...sum.outcomes, [outcome]: calls },
      });
    }
    return groups;
  }

  private async durations<Group>(
    tenantId: string,
    period: Period,
    duration: 'wait_ms' | 'run_ms',
    time: 'started_at' | 'ended_at',
    group: RawBuilder<Group>,
  ): Promise<Map<Group, Percentiles>> {
    const { rows } = await sql<{ group: Group; calls: number; values: [number, number, number] }>`
      select ${group} as "group", count(*) as calls,
        percentile_disc(array[0.5, 0.95, 0.99]) within group (order by ${sql.ref(duration)}::float8) as values from calls
      where tenant_id = ${tenantId} and ${sql.ref(duration)} is not null and ${within(time, period)} group by 1`.execute(this.db);
    return new Map(rows.map(({ group: name, calls, values: [p50, p95, p99] }) => [name, { count: calls, p50, p95, p99 }]));
  }
}

type Ends = Pick<Stats['series'][number], 'ended' | 'failed' | 'errors' | 'outcomes'>;
const NO_ENDS: Ends = { ended: 0, failed: 0, errors: 0, outcomes: {} };
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

function within(column: string, { since, until }: Period): RawBuilder<boolean> {
  return sql`${sql.ref(column)} >= ${iso(since)}::timestamptz and ${sql.ref(column)} < ${iso(until)}::timestamptz`;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
