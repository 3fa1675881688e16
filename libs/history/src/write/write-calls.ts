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

/** Columns by name: a newer release may have added others. */
const COLUMNS = sql.join([...RECORD_COLUMNS, 'words'].map((column) => sql.ref(column)));

/** Codes of permanent refusals: data exceptions, violated constraints, exceeded limits. */
const REFUSED = /^(22|23|54)/;

/**
 * Writes the rows of calls, and returns the changes whose rows are written. A row that the database refuses must not block
 * later ones: the batch is halved until the row is alone, then written without its texts, else skipped.
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
    const firstHalf = await writeCalls(db, changes.slice(0, half), skipped);
    return [...firstHalf, ...(await writeCalls(db, changes.slice(half), skipped))];
  }
  if ((await attempt(db, rows.map(withoutTexts))) === undefined) return changes;
  skipped(first.after.id, refused);
  return [];
}

/** Resolves with the error if the rows were refused, of which none is written then. Rejects for temporary errors. */
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
 * Inserts all rows as one JSON parameter; a conflict updates the columns that later events may change. A call that ended before
 * a projector read its events needs one insert.
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
