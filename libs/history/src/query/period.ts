import { ProblemError, STATS, type PeriodQuery, type StatsQuery } from '#contracts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LAST_MS = Date.UTC(9990, 0, 1);

/** Period from `since` to before `until`, in ms since the epoch. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

/** Base of the steps of a series, by the length of the period. */
const STEPS = [
  { upTo: 2 * HOUR_MS, stepMs: STATS.slotMs },
  { upTo: 2 * DAY_MS, stepMs: 5 * MINUTE_MS },
  { upTo: Infinity, stepMs: HOUR_MS },
];
/** Rounding of the ends of a period, by its length. */
const ROUNDING = [
  { upTo: 3 * HOUR_MS, stepMs: 5 * MINUTE_MS },
  { upTo: 3 * DAY_MS, stepMs: HOUR_MS },
  { upTo: Infinity, stepMs: DAY_MS },
];

/** Period of a series, in at most 1,000 whole steps. Default length: 15 minutes. */
export function seriesPeriod(query: StatsQuery, now: number): Period & { readonly stepMs: number } {
  const requested = periodOf(query, 15 * MINUTE_MS, now);
  const slotMs = fitting(STEPS, requested);
  const least = (requested.until - requested.since) / STATS.points;
  const stepMs = Math.ceil(Math.max(query.stepMs ?? 0, least, slotMs) / slotMs) * slotMs;
  return { stepMs, ...roundedTo(stepMs, requested) };
}

/** Period rounded outwards. Default length: 24 hours. */
export function roundedPeriod(query: PeriodQuery, now: number): Period {
  const requested = periodOf(query, DAY_MS, now);
  return roundedTo(fitting(ROUNDING, requested), requested);
}

/** Period of whole steps, rounded outwards. Default length: 24 hours. */
export function wholeSteps(query: PeriodQuery, stepMs: number, now: number): Period {
  return roundedTo(stepMs, periodOf(query, DAY_MS, now));
}

/** Limits a time to the years that both PostgreSQL and RFC 3339 can write, even rounded. No call is outside. */
function storedTime(text: string): number {
  return Math.min(Math.max(Date.parse(text), 0), LAST_MS);
}

/** Throws `invalid_request` if the period ends before it begins. */
function periodOf({ since, until }: PeriodQuery, lengthMs: number, now: number): Period {
  const to = until === undefined ? now : storedTime(until);
  const from = since === undefined ? Math.max(0, to - lengthMs) : storedTime(since);
  if (from <= to) return { since: from, until: Math.min(to, Math.max(from, now + STATS.coarseSlotMs)) };
  const message = 'expected a time that is not after until (now, when until is not given)';
  throw new ProblemError('invalid_request', `The period ends before it begins: ${message}`, {
    errors: [{ pointer: '/since', message }],
  });
}

function fitting(steps: readonly { readonly upTo: number; readonly stepMs: number }[], { since, until }: Period): number {
  return steps.find(({ upTo }) => until - since <= upTo)?.stepMs ?? STATS.slotMs;
}

function roundedTo(stepMs: number, { since, until }: Period): Period {
  const from = Math.floor(since / stepMs) * stepMs;
  return { since: from, until: Math.max(Math.ceil(until / stepMs) * stepMs, from + stepMs) };
}
