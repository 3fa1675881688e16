import type { LogEntry } from '../log-source.port.js';
import type { HistoryDatabase } from '../database/history-database.js';
import { storable } from '../rows/call-row.js';

/** Writes the administrative acts of a batch, in the transaction that moves the position. */
export async function writeActs(db: HistoryDatabase, partition: string, entries: readonly LogEntry[]): Promise<void> {
  const rows = entries.flatMap(({ seq, act }) => (act === undefined ? [] : [{ seq, act }]));
  if (rows.length === 0) return;
  await db
    .insertInto('acts')
    .values(
      rows.map(({ seq, act }) => ({
        partition,
        seq,
        tenant_id: act.tenantid,
        type: act.type,
        actor: storable(act.actor),
        target: storable(act.data.target),
        at: act.time,
        event: storable(JSON.stringify(act)),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
