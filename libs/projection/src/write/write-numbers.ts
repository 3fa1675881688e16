import canonicalize from 'canonicalize';
import { STATS } from '#contracts';
import { keys } from '#redis';
import { isFailure, waitMsOf } from '#history';
import { addTime } from '../stats/histogram.js';
import {
  addActivity,
  addFailures,
  EVERYTHING,
  FINE,
  GROUP_LEVELS,
  groupsField,
  keyIndexOf,
  noActivity,
  OTHER,
  slotField,
  type Activity,
  type FailureActivity,
  type Level,
} from '../stats/slots.js';
import type { Draft } from './draft.js';
import type { Step } from './fold-events.js';

/** What a batch adds for one tool, or one kind of failure, in one slot. */
interface Sum<T> {
  readonly tenantId: string;
  readonly time: number;
  readonly group: string;
  readonly value: T;
}

/** How the values of a kind are added up. */
interface Adding<T> {
  readonly kind: 'tool' | 'fail';
  readonly merge: (into: T, from: T) => void;
  readonly copy: (value: T) => T;
}

const TOOLS: Adding<Activity> = {
  kind: 'tool',
  merge: addActivity,
  copy: (value) => {
    const copy = noActivity();
    addActivity(copy, value);
    return copy;
  },
};
const FAILURES: Adding<FailureActivity> = { kind: 'fail', merge: addFailures, copy: (value) => ({ ...value }) };

/**
 * Numbers over time: wants the fields that the steps of calls add to, and answers what puts the sums into the draft once
 * they are loaded. Slots end by themselves after `STATS.keptMs`.
 */
export function writeNumbers(draft: Draft, partition: string, steps: readonly Step[]): () => void {
  const tools = new Map<string, Sum<Activity>>();
  const failures = new Map<string, Sum<FailureActivity>>();
  for (const step of steps) count(step, tools, failures);

  const puts: (() => void)[] = [];
  const write = <T>(adding: Adding<T>, level: Level, sums: readonly Sum<T>[]) => {
    for (const { tenantId, time, group, value } of sums) {
      const key = keys.viewNumbers(partition, tenantId, adding.kind, level.name, keyIndexOf(level, time));
      draft.want(key, slotField(level, time, group), slotField(level, time, OTHER), groupsField(level, time));
      puts.push(() => put(draft, { key, level, time, group, value }, adding.merge));
    }
  };
  let byTool: readonly Sum<Activity>[] = [...tools.values()];
  let byKind: readonly Sum<FailureActivity>[] = [...failures.values()];
  write(TOOLS, FINE, rolledUp(TOOLS, byTool, FINE, EVERYTHING));
  for (const level of GROUP_LEVELS) {
    byTool = rolledUp(TOOLS, byTool, level);
    byKind = rolledUp(FAILURES, byKind, level);
    write(TOOLS, level, byTool);
    write(TOOLS, level, rolledUp(TOOLS, byTool, level, EVERYTHING));
    write(FAILURES, level, byKind);
  }
  return () => {
    for (const run of puts) run();
  };
}

/** The sums of longer slots out of those of shorter ones; all groups together when one is named. */
function rolledUp<T>({ merge, copy }: Adding<T>, sums: readonly Sum<T>[], { slotMs }: Level, together?: string): Sum<T>[] {
  const all = new Map<string, Sum<T>>();
  for (const { tenantId, time, group: own, value } of sums) {
    const group = together ?? own;
    const name = `${Math.floor(time / slotMs)} ${tenantId} ${group}`;
    const known = all.get(name);
    if (known === undefined) all.set(name, { tenantId, time, group, value: copy(value) });
    else merge(known.value, value);
  }
  return [...all.values()];
}

function count({ tenantId, event, before, after }: Step, tools: Map<string, Sum<Activity>>, failures: Map<string, Sum<FailureActivity>>) {
  const time = Date.parse(event.time);
  const waitMs = before !== undefined && before.startedAt === undefined ? waitMsOf(after) : undefined;
  const outcome = before?.outcome === undefined ? after.outcome : undefined;
  if (before !== undefined && waitMs === undefined && outcome === undefined) return;
  const { value } = sumOf(tools, tenantId, time, after.tool, noActivity);
  if (before === undefined) value.s += 1;
  if (waitMs !== undefined) addTime(value.w, waitMs);
  if (outcome === undefined) return;
  value.e[outcome] = (value.e[outcome] ?? 0) + 1;
  if (after.errorResult) value.x = (value.x ?? 0) + 1;
  if (after.runMs !== undefined) addTime(value.r, after.runMs);
  const { error, fingerprint, tool, id, note = '' } = after;
  if (fingerprint === undefined || !isFailure(after)) return;
  const kind = error === undefined ? { message: note } : { code: error.code, message: error.message };
  const one = { tool, ...kind, count: 1, first: time, last: time, lastCallId: id };
  const sum = sumOf(failures, tenantId, time, fingerprint, () => ({ ...one, count: 0 }));
  addFailures(sum.value, one);
}

function sumOf<T>(sums: Map<string, Sum<T>>, tenantId: string, time: number, group: string, empty: () => T): Sum<T> {
  const name = `${Math.floor(time / FINE.slotMs)} ${tenantId} ${group}`;
  let sum = sums.get(name);
  if (sum === undefined) sums.set(name, (sum = { tenantId, time, group, value: empty() }));
  return sum;
}

interface Addition<T> {
  readonly key: string;
  readonly level: Level;
  readonly time: number;
  readonly group: string;
  readonly value: T;
}

/** Adds to what is stored, in a canonical form: one text for one sum, whatever came first. A new group above the bound goes to the others. */
function put<T>(draft: Draft, { key, level, time, group, value }: Addition<T>, merge: (into: T, from: T) => void): void {
  let field = slotField(level, time, group);
  if (group !== EVERYTHING && draft.text(key, field) === undefined) {
    const groups = Number(draft.text(key, groupsField(level, time)) ?? 0);
    if (groups >= STATS.groups) field = slotField(level, time, OTHER);
    else draft.set(key, groupsField(level, time), String(groups + 1));
  }
  draft.expire(key, endOf(level, time));
  const stored = draft.text(key, field);
  if (stored === undefined) {
    draft.set(key, field, canonicalize(value));
    return;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this function wrote
  const sum = JSON.parse(stored) as T;
  merge(sum, value);
  draft.set(key, field, canonicalize(sum));
}

/** When the slots of a key are no longer kept, in seconds since the epoch. */
function endOf(level: Level, time: number): number {
  return Math.ceil(((keyIndexOf(level, time) + 1) * level.slotMs * level.slots + STATS.keptMs) / 1000);
}
