import { STATS } from '#contracts';
import { keys } from '#redis';
import { isFailure, waitMsOf, type CallRecord } from '../record/call-record.js';
import { addTime } from '../stats/histogram.js';
import {
  addActivity,
  addFailures,
  EVERYTHING,
  HOUR_MS,
  hourOf,
  noActivity,
  OTHER,
  slotFields,
  type Activity,
  type FailureActivity,
} from '../stats/slots.js';
import type { Draft } from './draft.js';
import type { Step } from './fold-events.js';

/** What is added to one field of one hour. A group is subject to the bound of groups in a coarse slot. */
interface Addition<T> {
  readonly key: string;
  readonly field: string;
  readonly group?: { readonly count: string; readonly other: string };
  readonly value: T;
}

/**
 * Numbers over time: wants the fields that the steps of calls add to, and answers what puts the sums into the draft once
 * they are loaded. Hours end by themselves after `STATS.keptMs`.
 */
export function writeNumbers(draft: Draft, partition: string, steps: readonly Step[]): () => void {
  const activities = new Map<string, Addition<Activity>>();
  const failures = new Map<string, Addition<FailureActivity>>();
  const hours = new Map<string, number>();
  for (const step of steps) {
    const { tenantId, event, before, after } = step;
    const time = Date.parse(event.time);
    const hour = hourOf(time);
    const fine = keys.viewActivity(partition, tenantId, hour);
    const coarse = keys.viewGroups(partition, tenantId, hour);
    const activity = activityOf(before, after);
    if (activity !== undefined) {
      const group = { count: slotFields.groups(time, 't'), other: slotFields.tool(time, OTHER) };
      add(activities, { key: fine, field: slotFields.fine(time), value: activity }, addActivity, noActivity);
      add(activities, { key: coarse, field: slotFields.tool(time, EVERYTHING), value: activity }, addActivity, noActivity);
      add(activities, { key: coarse, field: slotFields.tool(time, after.tool), group, value: activity }, addActivity, noActivity);
      hours.set(fine, hour).set(coarse, hour);
    }
    const failure = event.type === 'call.end' ? failureOf(after, time) : undefined;
    if (failure !== undefined && after.fingerprint !== undefined) {
      const group = { count: slotFields.groups(time, 'f'), other: slotFields.failure(time, OTHER) };
      add(failures, { key: coarse, field: slotFields.failure(time, after.fingerprint), group, value: failure }, addFailures);
      hours.set(coarse, hour);
    }
  }
  for (const { key, field, group } of [...activities.values(), ...failures.values()]) {
    draft.want(key, field, ...(group === undefined ? [] : [group.count, group.other]));
  }
  return () => {
    for (const addition of activities.values()) put(draft, addition, addActivity);
    for (const addition of failures.values()) put(draft, addition, addFailures);
    for (const [key, hour] of hours) draft.also('EXPIREAT', key, Math.ceil(((hour + 1) * HOUR_MS + STATS.keptMs) / 1000));
  };
}

/** What one step of a call adds; undefined when it is nothing that is counted. */
function activityOf(before: CallRecord | undefined, after: CallRecord): Activity | undefined {
  const activity = noActivity();
  if (before === undefined) return { ...activity, s: 1 };
  const waitMs = before.startedAt === undefined ? waitMsOf(after) : undefined;
  if (waitMs !== undefined) addTime(activity.w, waitMs);
  if (after.outcome !== undefined && before.outcome === undefined) {
    activity.e[after.outcome] = 1;
    if (after.runMs !== undefined) addTime(activity.r, after.runMs);
  } else if (waitMs === undefined) return undefined;
  return activity;
}

function failureOf({ tool, error, outcome, id }: CallRecord, time: number): FailureActivity | undefined {
  if (error === undefined || !isFailure(outcome)) return undefined;
  return { tool, code: error.code, message: error.message, count: 1, first: time, last: time, lastCallId: id };
}

function add<T>(sums: Map<string, Addition<T>>, addition: Addition<T>, merge: (into: T, from: T) => void, empty?: () => T): void {
  const name = `${addition.key} ${addition.field}`;
  const known = sums.get(name);
  if (known !== undefined) return merge(known.value, addition.value);
  if (empty === undefined) {
    sums.set(name, addition);
    return;
  }
  const value = empty();
  merge(value, addition.value);
  sums.set(name, { ...addition, value });
}

/** Adds to what is stored. A new group above the bound goes to the others. */
function put<T>(draft: Draft, { key, field, group, value }: Addition<T>, merge: (into: T, from: T) => void): void {
  let target = field;
  if (group !== undefined && draft.text(key, field) === undefined) {
    const groups = Number(draft.text(key, group.count) ?? 0);
    if (groups >= STATS.groups) target = group.other;
    else draft.set(key, group.count, String(groups + 1));
  }
  const stored = draft.text(key, target);
  if (stored === undefined) {
    draft.set(key, target, JSON.stringify(value));
    return;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this function wrote
  const sum = JSON.parse(stored) as T;
  merge(sum, value);
  draft.set(key, target, JSON.stringify(sum));
}
