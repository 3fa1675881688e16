import { sql } from 'kysely';
import type { HistoryDatabase } from './history-database.js';

/** Runs a transaction that is on the disk of the server when it resolves, unlike those for rows that can be rebuilt. */
export function durably<T>(db: HistoryDatabase, run: (transaction: HistoryDatabase) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (transaction) => {
    await sql`set local synchronous_commit = on`.execute(transaction);
    return run(transaction);
  });
}
