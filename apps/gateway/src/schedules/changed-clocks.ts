import { CronExpressionParser } from 'cron-parser';
import { LRUCache } from 'lru-cache';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

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
 * Pure.
 * @throws Error for a malformed expression
 */
export function nextTime(cron: string, timeZone: string, afterMs: number): number {
  let [from, earliest, moved] = [afterMs - DAY_MS, -Infinity, Infinity];
  for (;;) {
    const before = offsetOf(timeZone, from);
    const due = localTimeAfter(cron, Math.max(afterMs + before, earliest)) - before;
    const change = firstChange(timeZone, from, Math.min(due, moved));
    if (change === undefined) return Math.min(due, moved);
    const after = offsetOf(timeZone, change);
    if (due < change + after - before) moved = Math.min(due, moved);
    earliest = change + (meansEveryHour(cron) ? after : Math.max(before, after)) - 1;
    from = change;
  }
}

/** Local times are represented as if they were UTC. */
function localTimeAfter(cron: string, local: number): number {
  return CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(local) })
    .next()
    .toDate()
    .getTime();
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
    end = Math.min(end + DAY_MS, to);
  } while (offsetOf(timeZone, end) === before);
  let [low, high] = [Math.floor(Math.max(from, end - DAY_MS) / MINUTE_MS), Math.ceil(end / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetOf(timeZone, middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}
