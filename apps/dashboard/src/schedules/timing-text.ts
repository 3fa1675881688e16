import cronstrue from 'cronstrue';
import type { Schedule } from '#contracts';
import { durationText, momentText } from '../components/duration.js';

type Timing = Pick<Schedule, 'cron' | 'everyMs' | 'at'>;

/** Timing of a schedule in words: `At 07:00, Monday through Friday`, `Every 2 h`, `Once, Jan 5, 2027, 07:00:00`. */
export function timingText({ cron, everyMs, at }: Timing): string {
  if (cron !== undefined) return cronText(cron);
  return everyMs === undefined ? `Once, ${at === undefined ? 'never' : momentText(Date.parse(at))}` : `Every ${durationText(everyMs)}`;
}

/** The expression itself, where there are no words for it. */
function cronText(cron: string): string {
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false });
  } catch {
    return cron;
  }
}

/** A due time in a time zone, as clocks there show it: `Mon, Jan 4, 07:00:00`. */
export function dueText(at: string, timeZone: string): string {
  return new Date(at).toLocaleString(undefined, {
    timeZone,
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false,
  });
}
