import { sql } from 'kysely';
import type { HistoryDatabase } from '../database/history-database.js';
import { archiveDaysOf, type RetentionPolicy } from './retention-policy.js';

const DAY_MS = 24 * 3_600_000;

/**
 * Deletes acts after the retention of the archive, and none while the tenant is on legal hold. The retention of call rows and
 * holds of single sessions and agents do not apply.
 */
export async function deleteActs(db: HistoryDatabase, policy: RetentionPolicy, now: number): Promise<void> {
  const { rows } = await sql<{ tenant_id: string }>`select distinct tenant_id from acts`.execute(db);
  for (const { tenant_id: tenantId } of rows) {
    const days = archiveDaysOf(policy, tenantId);
    if (days === undefined) continue;
    await db
      .deleteFrom('acts')
      .where('tenant_id', '=', tenantId)
      .where('at', '<', new Date(now - days * DAY_MS))
      .execute();
  }
}
