import { z } from 'zod';
import { CallFilter, type CallFilterInput } from '#contracts';

/** The filters of a list as the address has them: with the names and texts of the API. */
export interface CallSearch {
  readonly status?: string;
  readonly outcome?: string;
  readonly result?: string;
  readonly tool?: string;
  readonly agentId?: string;
  readonly sessionId?: string;
  readonly pool?: string;
  readonly risk?: string;
  readonly priority?: string;
  readonly errorCode?: string;
  readonly fingerprint?: string;
  readonly batchId?: string;
  readonly parentCallId?: string;
  readonly scheduleId?: string;
  readonly rootCallId?: string;
  /** A time (RFC 3339), or a span before now such as `15m`, `24h`, `7d`, which moves with the time. */
  readonly since?: string;
  readonly until?: string;
  readonly q?: string;
}

export const FILTER_NAMES = [
  'q',
  'status',
  'outcome',
  'result',
  'tool',
  'agentId',
  'sessionId',
  'pool',
  'risk',
  'priority',
  'errorCode',
  'fingerprint',
  'batchId',
  'parentCallId',
  'scheduleId',
  'rootCallId',
  'since',
  'until',
] as const satisfies readonly (keyof CallSearch)[];

const Given = z.record(z.string(), z.unknown());
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads the address; unknown names and empty values are dropped. */
export function readSearch(search: unknown): CallSearch {
  const given = Given.parse(search);
  return Object.fromEntries(
    FILTER_NAMES.flatMap((name) => {
      const value = given[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}

export function isEmpty(search: CallSearch): boolean {
  return Object.keys(search).length === 0;
}

/** The filter for the API. `now`: milliseconds, from which a span such as `15m` is subtracted. */
export function filterOf(search: CallSearch, now: number): CallFilterInput {
  const since = search.since === undefined ? undefined : spanMs(search.since);
  return { ...search, ...(since === undefined ? {} : { since: new Date(now - since).toISOString() }) };
}

/** The parsed filter, or its error as text. */
export function readFilter(search: CallSearch, now: number): { filter: CallFilter } | { fault: string } {
  const read = CallFilter.safeParse(filterOf(search, now));
  return read.success ? { filter: read.data } : { fault: z.prettifyError(read.error) };
}

export function spanMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const length = UNITS[unit];
  return count === undefined || length === undefined ? undefined : Number(count) * length;
}

export function listOf(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.split(',').map((part) => part.trim());
}
