import { sql } from 'kysely';
import { STATS, type CallOutcome, type CallStatus, type SessionSummary } from '#contracts';
import type { HistoryDatabase } from '../database/history-database.js';

type Recent = Pick<SessionSummary, 'goal' | 'lastCall' | 'recent'>;

/** Facts of each session from its newest calls. Sessions without stored calls are absent. */
export async function recentCalls(db: HistoryDatabase, tenantId: string, sessionIds: readonly string[]): Promise<Map<string, Recent>> {
  if (sessionIds.length === 0) return new Map();
  const { rows } = await sql<RecentRow>`
    select newest.* from unnest(${sessionIds}::text[]) as named (id)
    cross join lateral (
      select session_id, id, tool, preview, status, outcome, error_result, labels ->> 'goal' as goal from calls
      where tenant_id = ${tenantId} and session_id = named.id
      order by submitted_at desc, id desc limit ${STATS.recentCalls}) as newest`.execute(db);
  const bySession = new Map<string, RecentRow[]>();
  for (const row of rows) {
    const sessionRows = bySession.get(row.session_id);
    if (sessionRows) sessionRows.push(row);
    else bySession.set(row.session_id, [row]);
  }
  return new Map([...bySession].map(([id, calls]) => [id, recentOf(calls)]));
}

interface RecentRow {
  readonly session_id: string;
  readonly id: string;
  readonly tool: string;
  readonly preview: string;
  readonly status: CallStatus;
  readonly outcome: CallOutcome | null;
  readonly error_result: boolean;
  readonly goal: string | null;
}

function recentOf(rows: readonly RecentRow[]): Recent {
  const [last] = rows;
  const goal = rows.find((row) => row.goal !== null)?.goal;
  return {
    ...(goal === undefined || goal === null ? {} : { goal }),
    ...(last === undefined ? {} : { lastCall: { id: last.id, tool: last.tool, preview: last.preview } }),
    recent: rows.map(({ id, status, outcome, error_result: isError }) => ({
      id,
      status,
      ...(outcome === null ? {} : { outcome, isError: outcome !== 'completed' || isError }),
    })),
  };
}
