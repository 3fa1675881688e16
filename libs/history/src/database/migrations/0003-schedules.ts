import { type Kysely, sql } from 'kysely';
import { createIndex } from './create-index.js';

/** Schedule of a call; null in older rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table calls add column schedule_id text`.execute(db);
  await createIndex(db, 'calls_by_schedule', '(tenant_id, schedule_id, submitted_at desc, id desc) where schedule_id is not null');
}
