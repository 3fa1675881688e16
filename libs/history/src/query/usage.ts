import { sql } from 'kysely';
import { KEPT_WITH_CALL_SECONDS, MOST_USAGE_ROWS, ProblemError, type UsagePage, type UsageQuery, type UsageRow } from '#contracts';
import type { HistoryDatabase } from '../database/history-database.js';
import type { LogSource } from '../log-source.port.js';
import { storable } from '../rows/call-row.js';
import { within } from './call-sums.js';
import { behindOf } from './log-tail.js';
import { wholeSteps } from './period.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longest time from the Monday of a call's week to its End, plus a day for time zones. */
const LIFE_MS = KEPT_WITH_CALL_SECONDS * 1_000 + 8 * DAY_MS;
const STEP_MS = { hour: HOUR_MS, day: DAY_MS } as const;
const COLUMN = { agent: 'agent_id', tool: 'tool', tenant: 'tenant_id' } as const;
const FIELD = { agent: 'agentId', tool: 'tool', tenant: 'tenantId' } as const;

/** Usage of tenants by agent and tool, from the rows of their calls. */
export class Usage {
  constructor(
    private readonly db: HistoryDatabase,
    private readonly log: LogSource,
    private readonly partitions: number,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Reads the usage of a tenant, or with `by: tenant` of all. @throws ProblemError `invalid_request` for a period with too many
   * rows, or one that ends before it begins
   */
  async of(tenantId: string, { since, until, per, by, agentId, tool }: UsageQuery): Promise<UsagePage> {
    const period = wholeSteps({ since, until }, STEP_MS[per], this.now());
    const behind = await behindOf(this.db, this.log, this.partitions);
    const tenants = by === 'tenant' ? sql`true` : sql`tenant_id = ${tenantId}`;
    // Restricts to the weeks in which the calls may have been submitted, since no index is by the end alone.
    const weeks = sql`week between ${new Date(period.since - LIFE_MS)}::date and ${new Date(period.until + DAY_MS)}::date`;
    const agents = agentId === undefined ? sql`true` : sql`agent_id = any(${agentId.map(storable)}::text[])`;
    const tools = tool === undefined ? sql`true` : sql`tool = any(${tool.map(storable)}::text[])`;
    const { rows } = await sql<
      Omit<UsageRow, (typeof FIELD)[UsageQuery['by']] | 'at' | 'cpuMs'> & { at: Date; name: string | null; cpuMs: number | null }
    >`
      select date_trunc(${sql.lit(per)}, ended_at, 'UTC') as at, ${sql.ref(COLUMN[by])} as name, count(*) as calls,
        count(*) filter (where outcome in ('failed', 'timed_out', 'unknown') or error_result) as failed,
        count(*) filter (where outcome = 'denied') as denied, count(*) filter (where asked) as approvals,
        coalesce(sum(run_ms), 0)::bigint as "runMs", coalesce(sum(wait_ms) filter (where not asked), 0)::bigint as "waitMs",
        coalesce(sum(output_bytes), 0)::bigint as "outputBytes",
        sum(cpu_ms)::bigint as "cpuMs", count(cpu_ms) as "cpuCalls"
      from calls where ${weeks} and ${tenants} and ${within('ended_at', period)} and ${agents} and ${tools}
      group by 1, 2 order by 1, 2 nulls first limit ${sql.lit(MOST_USAGE_ROWS + 1)}`.execute(this.db);
    if (rows.length > MOST_USAGE_ROWS) throw tooMany();
    return {
      tenantId,
      rows: rows.map(({ at, name, cpuMs, ...sums }) => ({
        at: at.toISOString(),
        ...(name === null ? {} : { [FIELD[by]]: name }),
        ...(cpuMs === null ? {} : { cpuMs }),
        ...sums,
      })),
      ...(behind === undefined ? {} : { behind }),
    };
  }
}

function tooMany(): ProblemError {
  const message = `expected a period with at most ${MOST_USAGE_ROWS} rows: ask for days, or for a shorter period`;
  return new ProblemError('invalid_request', message, { errors: [{ pointer: '/since', message }] });
}
