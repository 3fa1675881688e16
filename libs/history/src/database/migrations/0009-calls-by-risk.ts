import type { Kysely } from 'kysely';
import { createIndex } from './create-index.js';

/** Lists by risk, and lists of a risk that few calls have. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndex(db, 'calls_by_risk', '(tenant_id, risk, submitted_at desc, id desc)');
}
