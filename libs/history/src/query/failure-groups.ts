import { sql } from 'kysely';
import { STATS, type CallErrorCode, type FailureGroup } from '#contracts';
import type { HistoryDatabase } from '../database/history-database.js';
import { within } from './call-sums.js';
import type { Period } from './period.js';

/**
 * Failures of a period by fingerprint, most calls first. Rows are summed by agent, session and part of the period first, so that
 * distinct names are counted in few rows.
 */
export async function failureGroups(db: HistoryDatabase, tenantId: string, period: Period): Promise<FailureGroup[]> {
  const stepMs = (period.until - period.since) / STATS.failureSteps;
  const step = sql`floor((date_part('epoch', ended_at) - ${sql.lit(period.since / 1_000)}) / ${sql.lit(stepMs / 1_000)})::int`;
  const { rows } = await sql<FailureRow>`
    with parts as (
      select fingerprint, agent_id, session_id, ${step} as step, count(*) as calls, min(ended_at) as first_at, max(ended_at) as last_at
      from calls where tenant_id = ${tenantId} and fingerprint is not null and ${within('ended_at', period)}
      group by fingerprint, agent_id, session_id, step),
    kinds as (
      select fingerprint, sum(calls)::bigint as calls, min(first_at) as first_at, max(last_at) as last_at,
        count(distinct agent_id) as agents, count(distinct session_id) as sessions
      from parts group by fingerprint order by calls desc, last_at desc limit ${STATS.groups})
    select kinds.*, newest.*, steps.*, before.previous_at, names.*
    from kinds
    cross join lateral (
      select id, tool, error_code, coalesce(error_message, note, '') as message, preview from calls
      where tenant_id = ${tenantId} and fingerprint = kinds.fingerprint and ended_at = kinds.last_at
      order by id desc limit 1) as newest
    cross join lateral (
      select array_agg(step) as steps, array_agg(calls) as step_calls from parts where fingerprint = kinds.fingerprint) as steps
    cross join lateral (
      select ${namesOf('agent_id')} as agent_names, ${namesOf('session_id')} as session_names) as names
    left join lateral (
      select ended_at as previous_at from calls
      where tenant_id = ${tenantId} and fingerprint = kinds.fingerprint
        and submitted_at < ${new Date(period.since)} and ended_at < ${new Date(period.since)}
      order by submitted_at desc limit 1) as before on true
    order by calls desc, last_at desc`.execute(db);
  return rows.map(groupOf);
}

function namesOf(column: 'agent_id' | 'session_id') {
  const name = sql.ref(column);
  return sql`array(select distinct ${name} from parts
    where fingerprint = kinds.fingerprint and ${name} is not null order by ${name} limit ${STATS.names})`;
}

interface FailureRow {
  readonly fingerprint: string;
  readonly calls: number;
  readonly first_at: Date;
  readonly last_at: Date;
  readonly previous_at: Date | null;
  readonly agents: number;
  readonly sessions: number;
  readonly agent_names: string[];
  readonly session_names: string[];
  /** Parts of the period; a part may occur several times. `step_calls`: number of calls in each. */
  readonly steps: readonly number[];
  readonly step_calls: readonly (number | string)[];
  readonly id: string;
  readonly tool: string;
  readonly error_code: CallErrorCode | null;
  readonly message: string;
  readonly preview: string;
}

function groupOf(row: FailureRow): FailureGroup {
  const counts = Array.from({ length: STATS.failureSteps }, () => 0);
  for (const [index, step] of row.steps.entries()) counts[step] = (counts[step] ?? 0) + Number(row.step_calls[index]);
  return {
    fingerprint: row.fingerprint,
    tool: row.tool,
    ...(row.error_code === null ? {} : { code: row.error_code }),
    message: row.message,
    count: row.calls,
    firstSeen: row.first_at.toISOString(),
    lastSeen: row.last_at.toISOString(),
    lastCallId: row.id,
    preview: row.preview,
    ...(row.previous_at === null ? {} : { previousSeen: row.previous_at.toISOString() }),
    counts,
    agents: { count: row.agents, names: row.agent_names },
    sessions: { count: row.sessions, names: row.session_names },
  };
}
