import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { encodeTime } from 'ulidx';
import { durably } from '../database/durably.js';
import type { HistoryDatabase } from '../database/history-database.js';

const KEY_BYTES = 32;
/** Characters of the time in a ULID. */
const TIME_CHARS = 10;

interface OlderKeys {
  readonly tenantId: string;
  readonly partition: string;
  /** Upper bound of the submission, ms since 1970. */
  readonly submittedBefore: number;
  readonly after: string;
  readonly limit: number;
}

/** Keys of calls whose content is encrypted in the archive (`ContentKeys` and `RetainedKeys` of #sealing). */
export class ContentKeyStore {
  constructor(private readonly db: HistoryDatabase) {}

  /** Makes missing keys. Existing and erased keys are not replaced. */
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

  async tenants(): Promise<readonly string[]> {
    const rows = await this.db.selectFrom('content_keys').select('tenant_id').distinct().where('key', 'is not', null).execute();
    return rows.map(({ tenant_id }) => tenant_id);
  }

  /** Calls of a tenant with a key that were submitted before a time, ascending after `after`. The time is in the id. */
  async older({ tenantId, partition, submittedBefore, after, limit }: OlderKeys): Promise<readonly string[]> {
    const rows = await this.db
      .selectFrom('content_keys')
      .select('call_id')
      .where('tenant_id', '=', tenantId)
      .where('key', 'is not', null)
      .where('call_id', '>', after === '' ? `${partition}-` : after)
      .where('call_id', '<', `${partition}-${encodeTime(Math.max(0, Math.floor(submittedBefore)), TIME_CHARS)}`)
      .orderBy('call_id')
      .limit(limit)
      .execute();
    return rows.map(({ call_id }) => call_id);
  }

  /** Deletes the keys, which makes the content of these calls in the archive unreadable. */
  async delete(callIds: readonly string[]): Promise<void> {
    await durably(this.db, (transaction) =>
      transaction
        .updateTable('content_keys')
        .set({ key: null })
        .where(sql<boolean>`call_id = any(${callIds}::text[])`)
        .execute(),
    );
  }

  /** Deletes the rows of the keys, after the calls have left the archive. */
  async forget(callIds: readonly string[]): Promise<void> {
    await durably(this.db, (transaction) =>
      transaction
        .deleteFrom('content_keys')
        .where(sql<boolean>`call_id = any(${callIds}::text[])`)
        .execute(),
    );
  }
}
