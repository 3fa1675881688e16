import { sql, type RawBuilder } from 'kysely';
import type { CallOutcome, Percentiles, Stats } from '#contracts';
import type { HistoryDatabase } from '../database/history-database.js';
import { isFailedOutcome } from '../record/call-record.js';
import type { Period } from './period.js';
import type { PeriodParts } from './period-parts.js';

export type Ends = Pick<Stats['series'][number], 'ended' | 'failed' | 'errors' | 'outcomes'>;
export const NO_ENDS: Ends = { ended: 0, failed: 0, errors: 0, outcomes: {} };

/** SQL for the group of a fact, by its time. */
export type Grouping<Group> = (at: RawBuilder<Date>) => RawBuilder<Group>;

/** Sums over the calls of a tenant in a period: from summed hours, and from the rows for the rest. */
export class CallSums<Group> {
  constructor(
    private readonly db: HistoryDatabase,
    private readonly tenantId: string,
    private readonly parts: PeriodParts,
    private readonly group: Grouping<Group>,
  ) {}

  async submitted(): Promise<Map<Group, number>> {
    const { rows } = await sql<{ group: Group; calls: number }>`
      select "group", sum(calls)::bigint as calls from (
        select ${this.hour} as "group", submitted as calls from ${this.hours}
        union all
        select ${this.at('submitted_at')}, count(*) from calls where ${this.within('submitted_at')} group by 1) as parts
      group by 1`.execute(this.db);
    return new Map(rows.map((row) => [row.group, row.calls]));
  }

  async ends(): Promise<Map<Group, Ends>> {
    const { rows } = await sql<{ group: Group; outcome: CallOutcome; calls: number; errors: number }>`
      select "group", outcome, sum(calls)::bigint as calls, sum(errors)::bigint as errors from (
        select ${this.hour} as "group", outcome, ended as calls, errors from ${this.hours} and ended > 0
        union all
        select ${this.at('ended_at')}, outcome, count(*), count(*) filter (where error_result)
        from calls where ${this.within('ended_at')} group by 1, 2) as parts
      group by 1, 2 order by 1, 2`.execute(this.db);
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

  /** Percentiles of durations, as middles of their buckets. */
  async durations(what: 'wait' | 'run'): Promise<Map<Group, Percentiles>> {
    const [duration, time] = what === 'wait' ? (['wait_ms', 'started_at'] as const) : (['run_ms', 'ended_at'] as const);
    const counted = sql`unnest(${sql.ref(`${what}_buckets`)}, ${sql.ref(`${what}_counts`)}) as counted (bucket, calls)`;
    const upTo = (share: number) => sql`latency_of_bucket(min(bucket) filter (where up_to >= ${sql.lit(share)} * total))`;
    const { rows } = await sql<{ group: Group; calls: number; p50: number; p95: number; p99: number }>`
      with buckets as (
        select "group", bucket, sum(calls)::float8 as calls from (
          select ${this.hour} as "group", bucket, calls from ${this.summed} cross join ${counted} where ${this.inHours}
          union all
          select ${this.at(time)}, latency_bucket(${sql.ref(duration)}), count(*)::integer
          from calls where ${sql.ref(duration)} is not null and ${this.within(time)} group by 1, 2) as parts
        group by 1, 2),
      ranked as (
        select *, sum(calls) over (partition by "group" order by bucket) as up_to, sum(calls) over (partition by "group") as total
        from buckets)
      select "group", max(total)::bigint as calls, ${upTo(0.5)} as p50, ${upTo(0.95)} as p95, ${upTo(0.99)} as p99
      from ranked group by 1`.execute(this.db);
    return new Map(rows.map(({ group: name, calls, ...percentiles }) => [name, { count: calls, ...percentiles }]));
  }

  private readonly summed = sql`hours join summed_hours using (hour)`;

  private get hours(): RawBuilder<unknown> {
    return sql`${this.summed} where ${this.inHours}`;
  }

  private get inHours(): RawBuilder<boolean> {
    const { summed } = this.parts;
    return summed === undefined ? sql`false` : sql`tenant_id = ${this.tenantId} and complete and ${within('hour', summed)}`;
  }

  private get hour(): RawBuilder<Group> {
    return this.group(sql`hour`);
  }

  private at(time: Time): RawBuilder<Group> {
    return this.group(sql`${sql.ref(time)}`);
  }

  private within(time: Time): RawBuilder<boolean> {
    const spans = this.parts.rest.map((span) => within(time, span));
    return spans.length === 0 ? sql`false` : sql`tenant_id = ${this.tenantId} and (${sql.join(spans, sql` or `)})`;
  }
}

type Time = 'submitted_at' | 'started_at' | 'ended_at';

export function within(column: string, { since, until }: Period): RawBuilder<boolean> {
  return sql`(${sql.ref(column)} >= ${new Date(since)}::timestamptz and ${sql.ref(column)} < ${new Date(until)}::timestamptz)`;
}
