import { CronExpressionParser } from 'cron-parser';
import { LRUCache } from 'lru-cache';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Due times that one change of the clocks may leave out: those of an expression with seconds, for which more come soon after. */
const MOST = 100;

const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 });

/** What a zone adds to UTC at a moment, in ms. */
function offsetOf(timeZone: string, at: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) formats.set(timeZone, (format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })));
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(format.format(at)) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}

/**
 * Due times between two moments whose local time does not exist, since the clocks are put forward over it: later by what is left
 * out, as clocks show it that were not put forward. cron-parser does so in the middle of a day for whole hours only. Pure.
 */
export function missingTimes(cron: string, timeZone: string, afterMs: number, untilMs: number): number[] {
  const found: number[] = [];
  for (let from = afterMs; from < untilMs; from += DAY_MS) {
    const to = Math.min(from + DAY_MS, untilMs);
    const before = offsetOf(timeZone, from);
    const gap = offsetOf(timeZone, to) - before;
    if (gap <= 0) continue;
    const change = changeWithin(timeZone, from, to) + before;
    const local = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(change - 1) });
    for (let count = 0; count < MOST; count++) {
      const time = local.next().toDate().getTime();
      if (time >= change + gap) break;
      if (time - before > afterMs) found.push(time - before);
    }
  }
  return found;
}

/**
 * The due time that is meant by one of cron-parser; undefined when none is. Where clocks were put back, the first of two moments
 * with the same local time, unless the expression means every hour, or every so many: cron-parser takes the second at midnight, and
 * both where they are two hours apart. Where clocks were put forward, `missingTimes` moves what is left out. Pure.
 */
export function meantTime(cron: string, timeZone: string, time: number): number | undefined {
  const offset = offsetOf(timeZone, time);
  const change = offset - offsetOf(timeZone, time - DAY_MS);
  if (change > 0) {
    const local = time + offset;
    const due = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(local - 1) }).next();
    return due.toDate().getTime() === local ? time : undefined;
  }
  const first = time + change;
  const isSecond = change < 0 && offsetOf(timeZone, first) === offset - change;
  return isSecond && !meansEveryHour(cron) ? first : time;
}

function meansEveryHour(cron: string): boolean {
  return cron.trim().split(/\s+/).at(-4)?.startsWith('*') === true;
}

/** The minute from which another offset holds. */
function changeWithin(timeZone: string, from: number, to: number): number {
  const before = offsetOf(timeZone, from);
  let [low, high] = [Math.floor(from / MINUTE_MS), Math.ceil(to / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetOf(timeZone, middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}
