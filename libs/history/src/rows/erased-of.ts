import { sql } from 'kysely';
import type { HistoryDatabase } from '../database/history-database.js';

/** Filters the calls that are erased. */
export async function erasedOf(db: HistoryDatabase, callIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('erasures')
    .select('call_id')
    .where(sql<boolean>`call_id = any(${callIds}::text[])`)
    .execute();
  return new Set(rows.map(({ call_id }) => call_id));
}
