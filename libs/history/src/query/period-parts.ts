import type { HistoryDatabase } from '../database/history-database.js';
import type { Period } from './period.js';

const HOUR_MS = 3_600_000;

/** Period divided into summed hours and the remaining spans, for which rows are read. */
export interface PeriodParts {
  /** Span from the first summed hour to the end of the last; may contain hours without sums. */
  readonly summed: Period | undefined;
  readonly rest: readonly Period[];
}

/** `stepMs`: hours are usable only if each lies within one step. */
export async function partsOf(db: HistoryDatabase, period: Period, stepMs?: number): Promise<PeriodParts> {
  if (stepMs !== undefined && stepMs % HOUR_MS !== 0) return { summed: undefined, rest: [period] };
  const rows = await db
    .selectFrom('summed_hours')
    .select('hour')
    .where('complete', '=', true)
    .where('hour', '>=', new Date(period.since))
    .where('hour', '<=', new Date(period.until - HOUR_MS))
    .orderBy('hour')
    .execute();
  const begins = rows.map(({ hour }) => hour.getTime());
  const rest: Period[] = [];
  let since = period.since;
  for (const begin of begins) {
    if (begin > since) rest.push({ since, until: begin });
    since = begin + HOUR_MS;
  }
  if (since < period.until) rest.push({ since, until: period.until });
  const [first] = begins;
  const last = begins.at(-1);
  return { summed: first === undefined || last === undefined ? undefined : { since: first, until: last + HOUR_MS }, rest };
}
