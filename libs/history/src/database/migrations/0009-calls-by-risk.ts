import type { Kysely } from 'kysely';
import { createIndex } from './create-index.js';

/** Index for lists by risk, and for lists of a rare risk. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndex(db, 'calls_by_risk', '(tenant_id, risk, submitted_at desc, id desc)');
}
