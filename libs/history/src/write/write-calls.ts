import { sql } from 'kysely';
import { HistoryUnavailable, type HistoryDatabase } from '../database/history-database.js';
import { rowOf, withoutTexts } from '../rows/call-row.js';
import { RECORD_COLUMNS, type Change } from '../rows/fold-events.js';

/** A change of a call in a partition of the log. */
export interface PlacedChange extends Change {
  readonly partition: string;
}

/** Called for each call whose row the database refuses, with the reason. */
export type Skipped = (callId: string, error: unknown) => void;

/** By name: the table may have more of them, which a newer release has added. */
const COLUMNS = sql.join([...RECORD_COLUMNS, 'words'].map((column) => sql.ref(column)));

/** Data exceptions, violated constraints, exceeded limits: a repetition would be refused, too. */
const REFUSED = /^(22|23|54)/;

/**
 * Writes the rows of calls, and returns the changes whose rows are written. One row that the database refuses must not hold up
 * all that come after it: halves of the batch are tried until it is alone, then it goes without its texts, else not at all.
 */
export async function writeCalls(
  db: HistoryDatabase,
  changes: readonly PlacedChange[],
  skipped: Skipped,
): Promise<readonly PlacedChange[]> {
  const [first] = changes;
  if (first === undefined) return [];
  const rows = changes.map(({ after, tenantId, partition }) => rowOf(after, tenantId, partition));
  const refused = await attempt(db, rows);
  if (refused === undefined) return changes;
  if (changes.length > 1) {
    const half = changes.length >> 1;
    const left = await writeCalls(db, changes.slice(0, half), skipped);
    return [...left, ...(await writeCalls(db, changes.slice(half), skipped))];
  }
  if ((await attempt(db, rows.map(withoutTexts))) === undefined) return changes;
  skipped(first.after.id, refused);
  return [];
}

/** Why the rows were refused; nothing of them is written then. Rejects for what may succeed another time. */
async function attempt(db: HistoryDatabase, rows: readonly object[]): Promise<HistoryUnavailable | undefined> {
  await sql`savepoint rows_of_calls`.execute(db);
  try {
    await insert(db, rows);
  } catch (error) {
    if (!(error instanceof HistoryUnavailable) || !REFUSED.test(error.code ?? '')) throw error;
    await sql`rollback to savepoint rows_of_calls`.execute(db);
    return error;
  }
  await sql`release savepoint rows_of_calls`.execute(db);
  return undefined;
}

/**
 * All rows go as one JSON parameter. A call that has ended before a projector read its events is one insert; the columns that
 * a later event may change are the ones that a conflict updates.
 */
async function insert(db: HistoryDatabase, rows: readonly object[]): Promise<void> {
  await sql`
    insert into calls (${COLUMNS}) select ${COLUMNS} from json_populate_recordset(null::calls, ${JSON.stringify(rows)}::json)
    on conflict (week, id) do update set
      status = excluded.status, outcome = excluded.outcome, error_result = excluded.error_result, note = excluded.note,
      error_code = excluded.error_code, error_message = excluded.error_message, fingerprint = excluded.fingerprint,
      attempt = excluded.attempt, suspended = excluded.suspended, started_at = excluded.started_at,
      ended_at = excluded.ended_at, wait_ms = excluded.wait_ms, run_ms = excluded.run_ms,
      asked = excluded.asked, output_bytes = excluded.output_bytes, cpu_ms = excluded.cpu_ms, words = excluded.words`.execute(db);
}
