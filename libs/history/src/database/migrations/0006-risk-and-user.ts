import { type Kysely, sql } from 'kysely';
import { createIndex } from './create-index.js';

/** Risk and user of a call. Null in older rows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table calls add column user_id text collate "C", add column risk text`.execute(db);
  await createIndex(db, 'calls_of_user', '(tenant_id, user_id, submitted_at desc, id desc) where user_id is not null');
}
