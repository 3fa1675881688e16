import { sql } from 'kysely';
import type { HistoryDatabase } from '../database/history-database.js';
import type { Change } from '../rows/fold-events.js';

const HOUR_MS = 3_600_000;
const TIMES = ['submittedAt', 'startedAt', 'endedAt'] as const;

/** Begins of the hours whose sums changes of calls alter. */
export function hoursOf(changes: readonly Change[]): Date[] {
  const hours = new Set<number>();
  for (const { before, after } of changes) {
    for (const field of TIMES) {
      if (before?.[field] === after[field]) continue;
      for (const time of [before?.[field], after[field]]) if (time !== undefined) hours.add(Math.floor(time / HOUR_MS) * HOUR_MS);
    }
  }
  return [...hours].map((hour) => new Date(hour));
}

/** Deletes the sums of hours whose rows are changed by the same transaction, after the rows: `HourSummer` makes them again. */
export async function forgetHours(db: HistoryDatabase, hours: readonly Date[]): Promise<void> {
  if (hours.length === 0) return;
  // Locked in order, so that two that forget the same hours never wait for each other.
  const { rows: forgotten } = await sql<{ hour: Date }>`
    delete from summed_hours where hour in (select hour from summed_hours where hour = any(${hours}::timestamptz[]) order by hour for update)
    returning hour`.execute(db);
  if (forgotten.length === 0) return;
  // A statement of its own: it sees what was summed while the one before waited.
  await sql`delete from hours where hour = any(${forgotten.map(({ hour }) => hour)}::timestamptz[])`.execute(db);
}

/** Deletes all sums. */
export async function forgetAllHours(db: HistoryDatabase): Promise<void> {
  const { rows } = await sql<{ hour: Date }>`select hour from summed_hours`.execute(db);
  await forgetHours(
    db,
    rows.map(({ hour }) => hour),
  );
}
