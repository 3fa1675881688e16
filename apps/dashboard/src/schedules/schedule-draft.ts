import type { Schedule } from '#contracts';

export const TIMING_KINDS = [
  { value: 'cron', label: 'Cron' },
  { value: 'every', label: 'Interval' },
  { value: 'at', label: 'Once' },
] as const;

export const UNITS = [
  { value: 's', label: 'seconds' },
  { value: 'm', label: 'minutes' },
  { value: 'h', label: 'hours' },
  { value: 'd', label: 'days' },
] as const;
export type Unit = (typeof UNITS)[number]['value'];
const UNIT_MS: Readonly<Record<Unit, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const OVERLAP_CHOICES = [
  { value: 'skip', label: 'Leave this run out' },
  { value: 'queue', label: 'Run after its end' },
  { value: 'cancel', label: 'Cancel the call before' },
] as const;

export const MISSED_CHOICES = [
  { value: 'run', label: 'Catch up with one run' },
  { value: 'skip', label: 'Wait for the next due time' },
] as const;

/** A schedule while it is filled in. */
export interface ScheduleDraft {
  readonly kind: (typeof TIMING_KINDS)[number]['value'];
  readonly cron: string;
  readonly timeZone: string;
  readonly every: number | undefined;
  readonly unit: Unit;
  /** Value of the field: local time without a zone. */
  readonly at: string;
  readonly name: string;
  readonly tool: string;
  /** JSON text; undefined while it is the example of the tool. */
  readonly arguments: string | undefined;
  readonly sessionId: string;
  readonly overlap: Schedule['overlap'];
  readonly missed: Schedule['missed'];
}

/** The timing as the API has it; undefined while it is not filled in. */
export function timingOf({ kind, cron, every, unit, at }: ScheduleDraft): Pick<Schedule, 'cron' | 'everyMs' | 'at'> | undefined {
  if (kind === 'cron') return cron.trim() === '' ? undefined : { cron: cron.trim() };
  if (kind === 'every') return every === undefined ? undefined : { everyMs: Math.round(every * UNIT_MS[unit]) };
  const time = Date.parse(at);
  return Number.isNaN(time) ? undefined : { at: new Date(time).toISOString() };
}
