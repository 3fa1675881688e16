import { sql } from 'kysely';
import type { ListSessionsQuery, SessionPage } from '#contracts';
import type { LogSource } from '../log-source.port.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { storable } from '../rows/call-row.js';
import { behindOf } from './log-tail.js';
import { decodePlace, encodePlace } from './page-cursor.js';
import { recentCalls } from './recent-calls.js';

/**
 * Sessions of a tenant, latest active first. A session that becomes active between two pages moves to the top of the first, and
 * may be missing from both.
 */
export class SessionList {
  constructor(
    private readonly db: HistoryDatabase,
    private readonly log: LogSource,
    private readonly partitions: number,
  ) {}

  async page(tenantId: string, { cursor, limit, agentId, q }: ListSessionsQuery): Promise<SessionPage> {
    const after = cursor === undefined ? undefined : decodePlace(cursor);
    const behind = await behindOf(this.db, this.log, this.partitions);
    const rows = await this.db
      .selectFrom('sessions')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .$if(agentId !== undefined, (query) => query.where('agent_id', 'in', (agentId ?? []).map(storable)))
      .$if(q !== undefined, (query) => query.where(sql<boolean>`position(lower(${storable(q ?? '')}) in lower(session_id)) > 0`))
      .$if(after !== undefined, (query) =>
        query.where(sql<boolean>`(last_at, session_id) < (${new Date(after?.time ?? 0)}::timestamptz, ${after?.id ?? ''})`),
      )
      .orderBy('last_at', 'desc')
      .orderBy('session_id', 'desc')
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const recent = await recentCalls(
      this.db,
      tenantId,
      page.map((row) => row.session_id),
    );
    return {
      sessions: page.map((row) => ({
        sessionId: row.session_id,
        agentId: row.agent_id ?? undefined,
        calls: row.calls,
        running: row.open,
        failed: row.failed,
        firstAt: row.first_at.toISOString(),
        lastAt: row.last_at.toISOString(),
        ...(recent.get(row.session_id) ?? { recent: [] }),
      })),
      ...(rows.length > limit && last !== undefined
        ? { nextCursor: encodePlace({ time: last.last_at.getTime(), id: last.session_id }) }
        : {}),
      ...(behind === undefined ? {} : { behind }),
    };
  }
}
