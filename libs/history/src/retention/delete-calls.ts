import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { forgetHours } from '../hours/forget-hours.js';
import type { HistoryDatabase } from '../database/history-database.js';

/** Tenant, and the time before which its calls must have ended to be deleted. */
export interface Expiry {
  readonly tenantId: string;
  readonly before: Date;
  /** Sessions and agents on hold, whose calls are not deleted. */
  readonly heldSessions: readonly string[];
  readonly heldAgents: readonly string[];
}

/** Longest wait for the positions, which are locked first, since projectors write sessions and totals, too; a batch takes less. */
const LOCK_TIMEOUT = sql`set local lock_timeout = '2s'`;

/** Deletes expired calls, oldest ends first, at most `limit`, and adjusts sessions and totals. Returns the number of deleted calls. */
export async function deleteExpired(db: HistoryDatabase, expiry: Expiry, limit: number): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    await LOCK_TIMEOUT.execute(transaction);
    const expired = await transaction
      .selectFrom('calls')
      .select(['week', 'id', 'partition'])
      .where(hasExpired(expiry))
      .orderBy('ended_at')
      .limit(limit)
      .execute();
    if (expired.length === 0) return 0;
    await lockPositions(transaction, [...new Set(expired.map(({ partition }) => partition))]);
    await createGone(transaction);
    await sql`
      with deleted as (
        delete from calls
        where week = any(${expired.map(({ week }) => week)}::date[]) and id = any(${expired.map(({ id }) => id)}::text[])
          and ${hasExpired(expiry)}
        returning ${COLUMNS_OF_GONE})
      insert into gone select * from deleted`.execute(transaction);
    await subtract(transaction);
    return expired.length;
  });
}

/** Deletes the table of a week if all of its calls have expired; then returns 1. */
export async function dropWeek(db: HistoryDatabase, table: string, expiries: readonly Expiry[]): Promise<0 | 1> {
  if (await hasKept(db, table, expiries)) return 0;
  return db.transaction().execute(async (transaction) => {
    await LOCK_TIMEOUT.execute(transaction);
    await lockPositions(transaction);
    if (await hasKept(transaction, table, expiries)) return 0;
    await createGone(transaction);
    await sql`insert into gone select ${COLUMNS_OF_GONE} from ${sql.table(table)}`.execute(transaction);
    await sql`drop table ${sql.table(table)}`.execute(transaction);
    await subtract(transaction);
    return 1;
  });
}

const COLUMNS_OF_GONE = sql`tenant_id, partition, session_id, submitted_at, started_at, ended_at`;

async function createGone(db: HistoryDatabase): Promise<void> {
  await sql`create temporary table gone on commit drop as select ${COLUMNS_OF_GONE} from calls with no data`.execute(db);
}

async function hasKept(db: HistoryDatabase, table: string, expiries: readonly Expiry[]): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} where (${either(expiries.map(hasExpired))}) is not true limit 1`.execute(db);
  return rows.length > 0;
}

function hasExpired({ tenantId, before, heldSessions, heldAgents }: Expiry): RawBuilder<SqlBool> {
  return sql<SqlBool>`(tenant_id = ${tenantId} and ended_at < ${before}
    and (session_id = any(${heldSessions}::text[])) is not true and (agent_id = any(${heldAgents}::text[])) is not true)`;
}

function either(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`false` : sql.join(conditions, sql` or `);
}

/** Locks positions in the order of their names, so that concurrent locks cannot deadlock. */
async function lockPositions(db: HistoryDatabase, partitions?: readonly string[]): Promise<void> {
  const positions = db.selectFrom('positions').select('partition').orderBy('partition').forUpdate();
  await (partitions === undefined ? positions : positions.where('partition', 'in', partitions)).execute();
}

/** Subtracts the rows of the table `gone` from sessions and totals, and deletes the sums of their hours. */
async function subtract(db: HistoryDatabase): Promise<void> {
  await sql`
    update totals set calls = totals.calls - few.calls
    from (select tenant_id, partition, count(*) as calls from gone group by 1, 2) as few
    where totals.tenant_id = few.tenant_id and totals.partition = few.partition`.execute(db);
  await sql`delete from totals where calls = 0`.execute(db);
  await sql`
    update sessions set calls = rest.calls, open = rest.open, failed = rest.failed, first_at = rest.first_at, last_at = rest.last_at
    from (
      select tenant_id, session_id, count(*) as calls, count(*) filter (where status <> 'ended') as open,
        count(*) filter (where error_result or outcome in ('failed', 'timed_out', 'unknown')) as failed,
        min(submitted_at) as first_at, max(coalesce(ended_at, started_at, submitted_at)) as last_at
      from calls where (tenant_id, session_id) in (select distinct tenant_id, session_id from gone) group by 1, 2) as rest
    where sessions.tenant_id = rest.tenant_id and sessions.session_id = rest.session_id`.execute(db);
  await sql`
    delete from sessions where (tenant_id, session_id) in (select tenant_id, session_id from gone)
      and not exists (select from calls where calls.tenant_id = sessions.tenant_id and calls.session_id = sessions.session_id)`.execute(db);
  const { rows: hours } = await sql<{ hour: Date }>`
    select distinct date_trunc('hour', at, 'UTC') as hour from gone, unnest(array[submitted_at, started_at, ended_at]) as at where at is not null`.execute(
    db,
  );
  await forgetHours(
    db,
    hours.map(({ hour }) => hour),
  );
}
