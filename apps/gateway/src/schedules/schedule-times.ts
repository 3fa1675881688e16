import { ProblemError, type CreateScheduleBody } from '#contracts';
import { nextTime } from './changed-clocks.js';

/** Longest search for due times of a cron expression: a day in every fourth year may miss one of them. */
const HORIZON_MS = 10 * 366 * 86_400_000;

export type Timing = Pick<CreateScheduleBody, 'cron' | 'everyMs' | 'at' | 'timeZone'> & { readonly anchorMs: number };

/**
 * First due times after a moment, in ms since the epoch; fewer if the schedule ends, or has fewer within ten years.
 * Pure.
 * @throws Error for a malformed expression
 */
export function nextTimes({ cron, everyMs, at, timeZone, anchorMs }: Timing, afterMs: number, count: number): number[] {
  if (at !== undefined) return [Date.parse(at)].filter((time) => time > afterMs);
  if (everyMs !== undefined) {
    const first = anchorMs + (Math.max(0, Math.floor((afterMs - anchorMs) / everyMs)) + 1) * everyMs;
    return Array.from({ length: count }, (_unused, index) => first + index * everyMs);
  }
  const times: number[] = [];
  // Computes each time from the previous one, exactly as a running schedule does.
  while (times.length < count) {
    const next = nextTime(cron ?? '', timeZone, times.at(-1) ?? afterMs, afterMs + HORIZON_MS);
    if (next === undefined) break;
    times.push(next);
  }
  return times;
}

/** @throws ProblemError `invalid_request` that names the field */
export function assertTiming(timing: Timing, now: number): void {
  const { cron, everyMs, at, timeZone } = timing;
  const given = Object.entries({ cron, everyMs, at }).filter(([, value]) => value !== undefined);
  if (given.length !== 1)
    throw wrong('', `Expected exactly one of cron, everyMs and at, received ${given.map(([name]) => name).join(' and ') || 'none'}`);
  if (!isTimeZone(timeZone)) throw wrong('/timeZone', `Expected an IANA time zone such as Europe/Berlin, received ${timeZone}`);
  if (at !== undefined && Date.parse(at) <= now) throw wrong('/at', `Expected a time in the future, received ${at}`);
  if (cron === undefined) return;
  if (/\bH\b|^@/.test(cron) || !/^\s*(?:\S+\s+){4,5}\S+\s*$/.test(cron))
    throw wrong('/cron', `Expected a cron expression of 5 fields, or 6 with seconds first, received ${cron}`);
  try {
    if (nextTimes(timing, now, 1).length === 0) throw new Error('it is due at no time of the next ten years');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw wrong(
      '/cron',
      `Expected a cron expression of 5 fields, or 6 with seconds first, that is due within ten years, received ${cron}: ${why}`,
    );
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function wrong(pointer: string, message: string): ProblemError {
  return new ProblemError('invalid_request', message, { errors: [{ pointer, message }] });
}
