import { sql } from 'kysely';
import type { HistoryDatabase } from '../database/history-database.js';

/** Position up to which the rows of a partition follow its log. */
export interface Position {
  readonly partition: string;
  readonly epoch: number;
  readonly seq: number;
  readonly mark: string;
}

/** Position before the first event of a log. */
export const START = { epoch: 0, seq: 0, mark: '' };

const COLUMNS = ['partition', 'epoch', 'seq', 'mark'] as const;

/** Locks the positions of the partitions that no other projector works on, without waiting. */
export async function lockPositions(transaction: HistoryDatabase, partitions: readonly string[]): Promise<Position[]> {
  const locked = await transaction
    .selectFrom('positions')
    .select(COLUMNS)
    .where('partition', 'in', partitions)
    .forUpdate()
    .skipLocked()
    .execute();
  if (locked.length === partitions.length) return locked;
  // Distinguishes missing from locked positions: an insert would wait for a lock, which a rebuild holds for long.
  const present = await transaction.selectFrom('positions').select('partition').where('partition', 'in', partitions).execute();
  const presentNames = new Set(present.map(({ partition }) => partition));
  const missing = partitions.filter((partition) => !presentNames.has(partition));
  return missing.length === 0 ? locked : [...locked, ...(await insertPositions(transaction, missing))];
}

/** Inserts positions in their order, so that concurrent inserts cannot deadlock. */
async function insertPositions(transaction: HistoryDatabase, partitions: readonly string[]): Promise<Position[]> {
  return transaction
    .insertInto('positions')
    .values(partitions.toSorted().map((partition) => ({ partition, ...START })))
    .onConflict((conflict) => conflict.doNothing())
    .returning(COLUMNS)
    .execute();
}

/** Moves positions that this transaction has locked. */
export async function movePositions(transaction: HistoryDatabase, positions: readonly Position[]): Promise<void> {
  await sql`
    update positions set epoch = moved.epoch, seq = moved.seq, mark = moved.mark, updated_at = now()
    from json_populate_recordset(null::positions, ${JSON.stringify(positions)}::json) moved
    where positions.partition = moved.partition`.execute(transaction);
}
