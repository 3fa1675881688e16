import { STATS, type CallErrorCode, type CallOutcome } from '#contracts';
import { addHistogram, type Histogram } from './histogram.js';

/** What happened in a span of time: to all calls, or to those of one tool. */
export interface Activity {
  /** Submitted. */
  s: number;
  /** Ended, by outcome. */
  e: Partial<Record<CallOutcome, number>>;
  /** From the submission to the first Start, by the time of the Start. */
  w: Histogram;
  /** Run times, by the time of the End. */
  r: Histogram;
}

/** Failures of one kind in a span of time. Times are ms since the epoch. */
export interface FailureActivity {
  tool: string;
  code: CallErrorCode;
  message: string;
  count: number;
  first: number;
  last: number;
  lastCallId: string;
}

export const HOUR_MS = 3_600_000;

export function hourOf(time: number): number {
  return Math.floor(time / HOUR_MS);
}

/**
 * Fields of the hashes of an hour: slots of all calls in one, slots of groups with a coarser time in the other. Beyond
 * `STATS.groups` in a coarse slot new groups are counted under `OTHER`; the group without a name is all calls.
 */
export const OTHER = '(other)';
export const EVERYTHING = '';
export const slotFields = {
  fine: (time: number) => `s:${Math.floor((time % HOUR_MS) / STATS.slotMs)}`,
  tool: (time: number, tool: string) => `t:${coarse(time)}:${tool}`,
  failure: (time: number, fingerprint: string) => `f:${coarse(time)}:${fingerprint}`,
  /** How many groups of a kind the coarse slot has. */
  groups: (time: number, kind: 't' | 'f') => `n:${kind}:${coarse(time)}`,
} as const;

/** What a field of the groups of an hour is about; undefined for a count of groups. */
export function readGroupField(hour: number, field: string): { kind: 't' | 'f'; from: number; name: string } | undefined {
  const [kind, slot, ...name] = field.split(':');
  if (kind !== 't' && kind !== 'f') return undefined;
  return { kind, from: hour * HOUR_MS + Number(slot) * STATS.coarseSlotMs, name: name.join(':') };
}

function coarse(time: number): number {
  return Math.floor((time % HOUR_MS) / STATS.coarseSlotMs);
}

export function noActivity(): Activity {
  return { s: 0, e: {}, w: {}, r: {} };
}

export function addActivity(into: Activity, from: Activity): void {
  into.s += from.s;
  for (const [outcome, count] of entriesOf(from.e)) into.e[outcome] = (into.e[outcome] ?? 0) + count;
  addHistogram(into.w, from.w);
  addHistogram(into.r, from.r);
}

/** Of two spans that may follow each other either way. */
export function addFailures(into: FailureActivity, from: FailureActivity): void {
  into.count += from.count;
  into.first = Math.min(into.first, from.first);
  if (from.last < into.last) return;
  into.last = from.last;
  into.lastCallId = from.lastCallId;
  into.message = from.message;
}

function entriesOf(outcomes: Activity['e']): [CallOutcome, number][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the type
  return Object.entries(outcomes) as [CallOutcome, number][];
}
