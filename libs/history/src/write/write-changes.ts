import { sql } from 'kysely';
import { sessionAfter, type SessionActivity } from '../record/session-activity.js';
import { forgetHours, hoursOf } from '../hours/forget-hours.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { nextWeek, weekOf } from '../rows/call-row.js';
import { writeCalls, type PlacedChange, type Skipped } from './write-calls.js';

/** Writes the changes of a batch of events, possibly of several partitions, in the transaction that moves the positions. */
export async function writeChanges(db: HistoryDatabase, changes: readonly PlacedChange[], skipped: Skipped): Promise<void> {
  const writtenChanges = await writeCalls(db, changes, skipped);
  if (writtenChanges.length === 0) return;
  await writeSessions(db, writtenChanges);
  await writeTotals(db, writtenChanges);
  await forgetHours(db, hoursOf(writtenChanges));
}

async function writeSessions(db: HistoryDatabase, changes: readonly PlacedChange[]): Promise<void> {
  const keyOf = (tenantId: string, sessionId: string) => `${tenantId}/${sessionId}`;
  const sessionIds = new Map<string, { tenantId: string; sessionId: string; partition: string }>();
  for (const { tenantId, partition, after } of changes) {
    if (after.sessionId !== undefined)
      sessionIds.set(keyOf(tenantId, after.sessionId), { tenantId, sessionId: after.sessionId, partition });
  }
  if (sessionIds.size === 0) return;
  const pairs = [...sessionIds.values()].map(({ tenantId, sessionId }) => sql`(${tenantId}, ${sessionId})`);
  const stored = await db
    .selectFrom('sessions')
    .selectAll()
    .where(sql<boolean>`(tenant_id, session_id) in (${sql.join(pairs)})`)
    .execute();
  const sessions = new Map<string, SessionActivity>(
    stored.map((row) => [
      keyOf(row.tenant_id, row.session_id),
      {
        calls: row.calls,
        open: row.open,
        failed: row.failed,
        firstAt: row.first_at.getTime(),
        lastAt: row.last_at.getTime(),
        agentId: row.agent_id ?? undefined,
      },
    ]),
  );
  for (const { tenantId, before, after } of changes) {
    if (after.sessionId === undefined) continue;
    const key = keyOf(tenantId, after.sessionId);
    sessions.set(key, sessionAfter(sessions.get(key), before, after));
  }
  const rows = [...sessionIds].flatMap(([key, { tenantId, sessionId, partition }]) => {
    const session = sessions.get(key);
    if (session === undefined) return [];
    const { calls, open, failed, firstAt, lastAt, agentId = null } = session;
    const times = { first_at: new Date(firstAt), last_at: new Date(lastAt) };
    return [{ tenant_id: tenantId, session_id: sessionId, partition, agent_id: agentId, calls, open, failed, ...times }];
  });
  await db
    .insertInto('sessions')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'session_id']).doUpdateSet((row) => ({
        agent_id: row.ref('excluded.agent_id'),
        calls: row.ref('excluded.calls'),
        open: row.ref('excluded.open'),
        failed: row.ref('excluded.failed'),
        first_at: row.ref('excluded.first_at'),
        last_at: row.ref('excluded.last_at'),
      })),
    )
    .execute();
}

async function writeTotals(db: HistoryDatabase, changes: readonly PlacedChange[]): Promise<void> {
  const added = new Map<string, { tenant_id: string; partition: string; calls: number }>();
  for (const { tenantId, partition, before } of changes) {
    if (before !== undefined) continue;
    const key = `${partition}/${tenantId}`;
    added.set(key, { tenant_id: tenantId, partition, calls: (added.get(key)?.calls ?? 0) + 1 });
  }
  if (added.size === 0) return;
  await db
    .insertInto('totals')
    .values([...added.values()])
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'partition']).doUpdateSet((row) => ({ calls: sql`totals.calls + ${row.ref('excluded.calls')}` })),
    )
    .execute();
}

/**
 * Creates missing tables of the weeks of calls. Checks each time: retention drops such tables, and a server that crashed or was
 * replaced by its replica may have lost a new one. `transaction` holds the positions, so retention drops none before its end.
 * Uses a connection of its own, so that projectors of other partitions do not wait for the batch, and attaches the tables,
 * which conflicts with no reader or writer of the other weeks.
 */
export async function ensureWeeks(db: HistoryDatabase, transaction: HistoryDatabase, callIds: Iterable<string>): Promise<void> {
  const weeks = [...new Set([...callIds].map(weekOf))].filter((week) => week !== undefined);
  if (weeks.length === 0) return;
  const { rows: missing } = await sql<{ week: string }>`
    select week from unnest(${weeks}::text[]) as week where to_regclass('calls_' || replace(week, '-', '_')) is null`.execute(transaction);
  for (const { week } of missing) await db.transaction().execute((own) => createWeek(own, week));
}

async function createWeek(db: HistoryDatabase, week: string): Promise<void> {
  const table = `calls_${week.replaceAll('-', '_')}`;
  await sql`select pg_advisory_xact_lock(hashtext('toolyard.weeks'))`.execute(db);
  const { rows } = await sql`select 1 from pg_inherits where inhparent = 'calls'::regclass and inhrelid = to_regclass(${table})`.execute(
    db,
  );
  if (rows.length > 0) return;
  await sql`create table ${sql.id(table)} (like calls including defaults including generated)`.execute(db);
  await sql`alter table calls attach partition ${sql.id(table)} for values from (${sql.lit(week)}) to (${sql.lit(nextWeek(week))})`.execute(
    db,
  );
}
