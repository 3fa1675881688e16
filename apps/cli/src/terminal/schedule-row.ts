import { shortCallId, type Schedule } from '#contracts';
import { oneLine } from './safe-text.js';
import { interval } from './time-text.js';

const LEAST_CHARS = 4;

/** A schedule in a list: id, tool, when it is due, when next, name, how it went last. `short`: a person reads it. */
export function scheduleRow(schedule: Schedule, now: number, short: boolean): string[] {
  const { id, name = '', cron, everyMs, timeZone, paused, nextRuns, lastRun, call } = schedule;
  const shown = short ? shortCallId : (text: string) => text;
  const when = cron === undefined ? (everyMs === undefined ? 'once' : `every ${interval(everyMs)}`) : `${cron} ${timeZone}`;
  const [due] = nextRuns;
  const next = due === undefined ? 'never' : `in ${interval(Math.max(0, Date.parse(due) - now))}`;
  const state = paused === undefined ? next : `paused: ${oneLine(paused.reason, 60)}`;
  const run = lastRun?.skipped ?? lastRun?.error?.code ?? (lastRun?.callId === undefined ? undefined : shown(lastRun.callId));
  return [shown(id), call.tool, when, state, oneLine(name, 40), run === undefined ? '' : `last ${run}`];
}

/** Schedules matched by an id, or by at least 4 characters of its end. */
export function matchingSchedules<T extends Pick<Schedule, 'id'>>(schedules: readonly T[], text: string): T[] {
  const end = text.toLowerCase();
  return schedules.filter(({ id }) => id === text || (end.length >= LEAST_CHARS && id.endsWith(end)));
}
