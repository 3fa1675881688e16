import type { HistoryDatabase } from '../database/history-database.js';
import type { Period } from './period.js';

const HOUR_MS = 3_600_000;

/** A period, divided into hours that are summed and the spans of time between them, for which rows are read. */
export interface PeriodParts {
  /** From the first summed hour to after the last; hours that are not summed may lie between. */
  readonly summed: Period | undefined;
  readonly rest: readonly Period[];
}

/** `stepMs`: hours are of use where each lies in one step. */
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
