import { sql, type RawBuilder } from 'kysely';
import type { HistoryDatabase } from '../database/history-database.js';

/** Sums an hour, unless its mark was deleted or another process sums it. */
export async function sumHour(db: HistoryDatabase, hour: Date): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const mark = await transaction
      .selectFrom('summed_hours')
      .select('hour')
      .where('hour', '=', hour)
      .where('complete', '=', false)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (mark === undefined) return;
    await transaction.deleteFrom('hours').where('hour', '=', hour).execute();
    const tenants = await transaction.selectFrom('totals').select('tenant_id').distinct().execute();
    await insertSums(
      transaction,
      hour,
      tenants.map(({ tenant_id: tenantId }) => tenantId),
    );
    await transaction.updateTable('summed_hours').set({ complete: true }).where('hour', '=', hour).execute();
  });
}

/** Inserts the sums by tool and outcome, combined from one query for each kind of fact. */
async function insertSums(db: HistoryDatabase, hour: Date, tenants: readonly string[]): Promise<void> {
  const within = (column: string) =>
    sql`tenant_id = any(${tenants}::text[]) and ${sql.ref(column)} >= ${hour}::timestamptz and ${sql.ref(column)} < ${hour}::timestamptz + interval '1 hour'`;
  await sql`
    with facts as (
      select tenant_id, tool, '' as outcome, count(*) as submitted, 0 as ended, 0 as errors,
        null::integer as wait_bucket, 0 as waits, null::integer as run_bucket, 0 as runs
      from calls where ${within('submitted_at')} group by tenant_id, tool
      union all
      select tenant_id, tool, '', 0, 0, 0, latency_bucket(wait_ms), count(*), null, 0
      from calls where ${within('started_at')} and wait_ms is not null group by tenant_id, tool, latency_bucket(wait_ms)
      union all
      select tenant_id, tool, coalesce(outcome, ''), 0, count(*), count(*) filter (where error_result), null, 0, latency_bucket(run_ms), count(run_ms)
      from calls where ${within('ended_at')} group by tenant_id, tool, outcome, latency_bucket(run_ms))
    insert into hours (tenant_id, hour, tool, outcome, submitted, ended, errors, wait_buckets, wait_counts, run_buckets, run_counts)
    select tenant_id, ${hour}::timestamptz, tool, outcome, sum(submitted), sum(ended), sum(errors),
      ${listOf('wait_bucket', 'wait_bucket')}, ${listOf('waits', 'wait_bucket')}, ${listOf('run_bucket', 'run_bucket')}, ${listOf('runs', 'run_bucket')}
    from facts group by tenant_id, tool, outcome`.execute(db);
}

function listOf(column: string, bucket: string): RawBuilder<unknown> {
  return sql`coalesce(array_agg(${sql.ref(column)} order by ${sql.ref(bucket)}) filter (where ${sql.ref(bucket)} is not null), '{}')`;
}
