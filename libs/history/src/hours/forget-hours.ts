import { sql } from 'kysely';
import type { HistoryDatabase } from '../database/history-database.js';
import type { Change } from '../rows/fold-events.js';

const HOUR_MS = 3_600_000;
const TIMES = ['submittedAt', 'startedAt', 'endedAt'] as const;

/** Start times of the hours whose sums are affected by changes of calls. */
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

/** Deletes the sums of hours whose rows the same transaction has changed; `HourSummer` sums them again. */
export async function forgetHours(db: HistoryDatabase, hours: readonly Date[]): Promise<void> {
  if (hours.length === 0) return;
  // Locks in order, so that concurrent deletions of the same hours cannot deadlock.
  const { rows: forgotten } = await sql<{ hour: Date }>`
    delete from summed_hours where hour in (select hour from summed_hours where hour = any(${hours}::timestamptz[]) order by hour for update)
    returning hour`.execute(db);
  if (forgotten.length === 0) return;
  // A separate statement sees the sums made while the previous one waited.
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
