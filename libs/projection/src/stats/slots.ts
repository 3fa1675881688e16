import { STATS, type CallErrorCode, type CallOutcome } from '#contracts';
import { addHistogram, type Histogram } from './histogram.js';

/** What happened in a span of time: to all calls, or to those of one tool. */
export interface Activity {
  /** Submitted. */
  s: number;
  /** Ended, by outcome. */
  e: Partial<Record<CallOutcome, number>>;
  /** Of the completed ones: how many had an error result. Absent when none had. */
  x?: number;
  /** From the submission to the first Start, by the time of the Start. */
  w: Histogram;
  /** Run times, by the time of the End. */
  r: Histogram;
}

/** Failures of one kind in a span of time. Times are ms since the epoch. */
export interface FailureActivity {
  tool: string;
  /** Absent for completed calls with an error result. */
  code?: CallErrorCode;
  message: string;
  count: number;
  first: number;
  last: number;
  lastCallId: string;
}

/**
 * Numbers are kept in slots of several lengths, so that a long time is not read in small pieces. Slots of a level that
 * follow each other share a key: `slots` of them. Groups (tools, kinds of failure) have no fine slots.
 */
export interface Level {
  readonly name: string;
  readonly slotMs: number;
  readonly slots: number;
}

export const FINE: Level = { name: 'fine', slotMs: STATS.slotMs, slots: 360 };
export const GROUP_LEVELS: readonly Level[] = [
  { name: '5min', slotMs: STATS.coarseSlotMs, slots: 12 },
  { name: 'hour', slotMs: 3_600_000, slots: 24 },
  { name: 'day', slotMs: 24 * 3_600_000, slots: 7 },
];

/** The group of all calls, and the one that gathers what is beyond `STATS.groups` in a slot. */
export const EVERYTHING = '';
export const OTHER = '(other)';

/** Which of a level's keys a time belongs to. */
export function keyIndexOf({ slotMs, slots }: Level, time: number): number {
  return Math.floor(time / (slotMs * slots));
}

/** The field of a group at a time. */
export function slotField({ slotMs, slots }: Level, time: number, group: string): string {
  return `${Math.floor(time / slotMs) % slots}:${group}`;
}

/** How many groups the slot of a time has. */
export function groupsField(level: Level, time: number): string {
  return `n${slotField(level, time, '')}`;
}

/** The beginning of the slot and the group that a field is about; undefined for a count of groups. */
export function readSlotField({ slotMs, slots }: Level, index: number, field: string): { from: number; group: string } | undefined {
  const colon = field.indexOf(':');
  const slot = Number(field.slice(0, colon));
  return Number.isNaN(slot) ? undefined : { from: (index * slots + slot) * slotMs, group: field.slice(colon + 1) };
}

export function noActivity(): Activity {
  return { s: 0, e: {}, w: {}, r: {} };
}

export function addActivity(into: Activity, from: Activity): void {
  into.s += from.s;
  for (const [outcome, count] of entriesOf(from.e)) into.e[outcome] = (into.e[outcome] ?? 0) + count;
  if (from.x !== undefined) into.x = (into.x ?? 0) + from.x;
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
