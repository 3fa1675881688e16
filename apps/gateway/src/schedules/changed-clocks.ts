import { CronExpressionParser } from 'cron-parser';
import { LRUCache } from 'lru-cache';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Clocks of no zone change twice within it. */
const STEP_MS = 7 * DAY_MS;

const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 });

/** Offset of a zone from UTC at a moment, in ms. */
function offsetOf(timeZone: string, at: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) formats.set(timeZone, (format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })));
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(format.format(at)) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}

/**
 * First due time of a cron expression after a moment, in the local time of a zone. A skipped local time moves forward by the
 * length of the gap. A repeated local time counts once, at its first moment, unless the expression has every hour or a step of
 * hours. cron-parser counts local times only: in zones it loses some at clock changes, and fails at changes of half an hour.
 * Undefined if there is none until `untilMs`. Pure.
 * @throws Error for a malformed expression
 */
export function nextTime(cron: string, timeZone: string, afterMs: number, untilMs: number): number | undefined {
  let [from, earliest, moved] = [afterMs - DAY_MS, -Infinity, Infinity];
  let found = { after: Infinity, local: -Infinity };
  for (;;) {
    const before = offsetOf(timeZone, from);
    const after = Math.max(afterMs + before, earliest);
    // Searched again only where an earlier search says nothing: each may take thousands of steps.
    if (after < found.after || after >= found.local) found = { after, local: localTimeAfter(cron, after, untilMs + DAY_MS) };
    const due = found.local - before;
    const change = firstChange(timeZone, from, Math.min(due, moved, untilMs));
    if (change === undefined) return Math.min(due, moved) > untilMs ? undefined : Math.min(due, moved);
    const offset = offsetOf(timeZone, change);
    if (due < change + offset - before) moved = Math.min(due, moved);
    earliest = change + (meansEveryHour(cron) ? offset : Math.max(before, offset)) - 1;
    from = change;
  }
}

/** Local times are represented as if they were UTC. Infinity for none until `until`. */
function localTimeAfter(cron: string, local: number, until: number): number {
  const expression = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(local), endDate: new Date(until) });
  try {
    return expression.next().toDate().getTime();
  } catch {
    return Infinity;
  }
}

function meansEveryHour(cron: string): boolean {
  return cron.trim().split(/\s+/).at(-4)?.startsWith('*') === true;
}

/** First minute after `from`, up to `to`, with another offset. */
function firstChange(timeZone: string, from: number, to: number): number | undefined {
  const before = offsetOf(timeZone, from);
  let end = from;
  do {
    if (end >= to) return undefined;
    end = Math.min(end + STEP_MS, to);
  } while (offsetOf(timeZone, end) === before);
  let [low, high] = [Math.floor(Math.max(from, end - STEP_MS) / MINUTE_MS), Math.ceil(end / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetOf(timeZone, middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}
