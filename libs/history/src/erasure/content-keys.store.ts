import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { durably } from '../database/durably.js';
import type { HistoryDatabase } from '../database/history-database.js';

const KEY_BYTES = 32;

/** The keys of calls whose content is encrypted in the archive (`ContentKeys` of #sealing). */
export class ContentKeyStore {
  constructor(private readonly db: HistoryDatabase) {}

  /** Calls that have a key, or had one that was erased, keep that. */
  async make(calls: readonly { readonly callId: string; readonly tenantId: string }[]): Promise<void> {
    const rows = calls.map(({ callId, tenantId }) => ({ call_id: callId, tenant_id: tenantId, key: randomBytes(KEY_BYTES) }));
    if (rows.length === 0) return;
    await durably(this.db, (transaction) =>
      transaction
        .insertInto('content_keys')
        .columns(['call_id', 'tenant_id', 'key'])
        .expression(
          sql`select * from unnest(${rows.map((row) => row.call_id)}::text[], ${rows.map((row) => row.tenant_id)}::text[], ${rows.map((row) => row.key)}::bytea[])`,
        )
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  }

  async read(callIds: readonly string[]): Promise<ReadonlyMap<string, Buffer | null>> {
    if (callIds.length === 0) return new Map();
    const rows = await this.db
      .selectFrom('content_keys')
      .select(['call_id', 'key'])
      .where(sql<boolean>`call_id = any(${callIds}::text[])`)
      .execute();
    return new Map(rows.map(({ call_id, key }) => [call_id, key]));
  }
}
