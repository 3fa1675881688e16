import { sql } from 'kysely';
import { durably } from '../database/durably.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { erasedRecord } from '../record/erased-record.js';
import { recordOf as callRecordOf, rowOf, weekOf } from '../rows/call-row.js';
import { RECORD_COLUMNS } from '../rows/fold-events.js';

export interface ErasureRequest {
  readonly callId: string;
  readonly tenantId: string;
  readonly partition: string;
  /** Last event of the call. */
  readonly lastSeq: number;
  /** Requester, such as `apikey:admin`. */
  readonly requestedBy: string;
  readonly reason: string | undefined;
}

/** Record of an erasure. */
export interface ErasureRecord extends ErasureRequest {
  readonly requestedAt: Date;
  /** Time of completion; undefined while this system still has copies. */
  readonly doneAt: Date | undefined;
  /** Reason why the erasure cannot be completed. */
  readonly fault: string | undefined;
}

/** Erasures, and the erased rows of their calls. */
export class ErasureStore {
  constructor(private readonly db: HistoryDatabase) {}

  /**
   * Records the request and removes all texts from the row of the call, as projectors do in later writes. Of repeated requests
   * the first is stored.
   */
  async request({ callId, tenantId, partition, lastSeq, requestedBy, reason }: ErasureRequest): Promise<void> {
    await durably(this.db, async (transaction) => {
      // A projector within a batch has already read the erasures: its lock is awaited.
      await transaction.selectFrom('positions').select('partition').where('partition', '=', partition).forUpdate().execute();
      await transaction
        .insertInto('erasures')
        .values({
          call_id: callId,
          tenant_id: tenantId,
          partition,
          last_seq: lastSeq,
          requested_by: requestedBy,
          reason: reason ?? null,
          done_at: null,
          fault: null,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await eraseRow(transaction, callId, partition);
    });
  }

  /** Undefined for a call without an erasure. */
  async find(callId: string): Promise<ErasureRecord | undefined> {
    const row = await this.db.selectFrom('erasures').selectAll().where('call_id', '=', callId).executeTakeFirst();
    return row && recordOf(row);
  }

  /** Incomplete erasures, and those whose key has returned from a backup; oldest first, at most `limit`. */
  async open(limit: number): Promise<ErasureRecord[]> {
    const rows = await this.db
      .selectFrom('erasures')
      .leftJoin('content_keys', 'content_keys.call_id', 'erasures.call_id')
      .selectAll('erasures')
      .where((is) => is.or([is('done_at', 'is', null), is('key', 'is not', null)]))
      .where('fault', 'is', null)
      .orderBy('requested_at')
      .limit(limit)
      .execute();
    return rows.map(recordOf);
  }

  /** Deletes the key, which makes the content in the archive unreadable. */
  async deleteKey(callId: string): Promise<void> {
    await durably(this.db, (transaction) =>
      transaction.updateTable('content_keys').set({ key: null }).where('call_id', '=', callId).execute(),
    );
  }

  /** Records a fault; the erasure is not retried. */
  async fail(callId: string, fault: string): Promise<void> {
    await this.db.updateTable('erasures').set({ fault }).where('call_id', '=', callId).execute();
  }

  async complete(callId: string): Promise<void> {
    await durably(this.db, (transaction) =>
      transaction
        .updateTable('erasures')
        .set({ done_at: sql`now()` })
        .where('call_id', '=', callId)
        .where('done_at', 'is', null)
        .execute(),
    );
  }
}

/** Erases the row, unless no projector has written it yet. */
async function eraseRow(db: HistoryDatabase, callId: string, partition: string): Promise<void> {
  const week = weekOf(callId);
  if (week === undefined) return;
  const row = await db.selectFrom('calls').select(RECORD_COLUMNS).where('week', '=', week).where('id', '=', callId).executeTakeFirst();
  if (row === undefined) return;
  const erased = rowOf(erasedRecord(callRecordOf(row)), row.tenant_id, partition);
  const { error_message, note, fingerprint, tool_call_id, user_id, output_bytes, labels, preview, words } = erased;
  const values = JSON.stringify([{ error_message, note, fingerprint, tool_call_id, user_id, output_bytes, labels, preview, words }]);
  await sql`
    update calls set (error_message, note, fingerprint, tool_call_id, user_id, output_bytes, labels, preview, words) =
      (select error_message, note, fingerprint, tool_call_id, user_id, output_bytes, labels, preview, words
        from json_populate_recordset(null::calls, ${values}::json))
    where week = ${week} and id = ${callId}`.execute(db);
}

function recordOf(row: {
  call_id: string;
  tenant_id: string;
  partition: string;
  last_seq: number;
  requested_by: string;
  reason: string | null;
  requested_at: Date;
  done_at: Date | null;
  fault: string | null;
}): ErasureRecord {
  return {
    callId: row.call_id,
    tenantId: row.tenant_id,
    partition: row.partition,
    lastSeq: row.last_seq,
    requestedBy: row.requested_by,
    reason: row.reason ?? undefined,
    requestedAt: row.requested_at,
    doneAt: row.done_at ?? undefined,
    fault: row.fault ?? undefined,
  };
}
