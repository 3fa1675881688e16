import { UsageError } from '../usage-error.js';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Duration as `850ms`, `4.2s`, `3m10s`, `2h5m` or `3d4h`. No `ms` package, which prints one unit, rounded. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`;
  if (ms < UNITS.h) return twoUnits(ms, 'm', 's');
  return ms < UNITS.d ? twoUnits(ms, 'h', 'm') : twoUnits(ms, 'd', 'h');
}

/** Whole units: `500ms`, `30s`, `2h30m`. */
export function interval(ms: number): string {
  return ms >= 1000 && ms < 60_000 ? `${Math.round(ms / 1000)}s` : duration(ms);
}

/** `just now`, `12s ago`, `6m ago`, `3h ago`, `2d ago`. */
export function ago(ms: number): string {
  if (ms < 2 * UNITS.s) return 'just now';
  const unit = ms < UNITS.m ? 's' : ms < UNITS.h ? 'm' : ms < UNITS.d ? 'h' : 'd';
  return `${Math.floor(ms / UNITS[unit])}${unit} ago`;
}

function twoUnits(ms: number, large: keyof typeof UNITS, small: keyof typeof UNITS): string {
  const rest = Math.floor((ms % UNITS[large]) / UNITS[small]);
  return `${Math.floor(ms / UNITS[large])}${large}${rest === 0 ? '' : `${rest}${small}`}`;
}

/** Milliseconds of `500ms`, `30s`, `2m`, `1h`, or of a number without a unit. @throws UsageError */
export function parseDuration(text: string): number {
  const [, number = '', unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim()) ?? [];
  if (number === '' || !isUnit(unit)) throw new UsageError(`Expected a duration such as 500ms, 30s, 2m or 1h, got ${JSON.stringify(text)}`);
  return Math.round(Number(number) * UNITS[unit]);
}

function isUnit(text: string): text is keyof typeof UNITS {
  return text in UNITS;
}

/** A time as RFC 3339, from the same or from a duration before `now`. */
export function parseSince(text: string, now: number): string {
  const moment = Date.parse(text);
  if (/^\d{4}-/.test(text) && !Number.isNaN(moment)) return new Date(moment).toISOString();
  return new Date(now - parseDuration(text)).toISOString();
}

/** The time of day of an event, in the local time zone. */
export function clock(time: string): string {
  return new Date(time).toTimeString().slice(0, 8);
}

/** A time of RFC 3339 in UTC for a list that a person reads: its first `chars`, such as 10 for the day, 16 to the minute. */
export function momentText(time: string, chars: 10 | 16 | 19): string {
  return time.slice(0, chars).replace('T', ' ');
}
