import type { BatchStop, BatchStrategy, OnFailure } from '#contracts';
import { groupsOf } from '../calls/strategy-groups.decider.js';

/**
 * State of a call of the batch.
 * - `pending`: not submitted;
 * - `asking`: waits for a person, and the batch (abort) waits with it;
 * - `approved`: allowed by a person, not yet released by the batch;
 * - `open`: submitted; `stopping`: the same, with a cancel request;
 * - `ended`.
 */
export type SlotState = 'pending' | 'asking' | 'approved' | 'open' | 'stopping' | 'ended';

/** Evaluation of the call before the batch existed; `malformed`: rejected because its arguments are not JSON. */
export type Verdict = 'allow' | 'ask' | 'refused' | 'malformed';

export interface BatchSlot {
  readonly readOnly: boolean;
  readonly verdict: Verdict;
  readonly state: SlotState;
  /** Ended without a Start: rejected, denied, expired, cancelled in the queue. */
  readonly notStarted: boolean;
}

export interface BatchFacts {
  readonly strategy: BatchStrategy;
  readonly onFailure: OnFailure;
  readonly slots: readonly BatchSlot[];
  readonly stop?: BatchStop['reason'] | undefined;
  /** Last group before which steering was checked; Infinity if steering is off. */
  readonly steeringCheckedUpTo: number;
}

/** Next action. The decider is called again after it. */
export type BatchStep =
  /** Submit these calls, or release those that a person has already approved. */
  | { readonly kind: 'submit'; readonly indexes: readonly number[] }
  /** Stop the batch: none of its calls starts any more. */
  | { readonly kind: 'abort'; readonly malformed: boolean }
  /** End these calls, which have not started, without running them. */
  | { readonly kind: 'skip'; readonly indexes: readonly number[] }
  /** Cancel these calls, which may be running. */
  | { readonly kind: 'cancel'; readonly indexes: readonly number[] }
  /** Check for steering messages before this group starts. */
  | { readonly kind: 'checkSteering'; readonly group: number }
  | { readonly kind: 'wait' }
  | { readonly kind: 'finish' };

const WAIT: BatchStep = { kind: 'wait' };

/**
 * Next step of a batch, from the states of its calls. Pure, and total over every state, so that a process can continue after
 * any loss by loading the facts again.
 *
 * Steps, the first applicable one: all ended → finish; stopped → stop the rest; abort → every call may run and every approval
 * is decided; between groups → check steering; submit the calls that the group may start.
 */
export function nextStep(facts: BatchFacts): BatchStep {
  const { slots, stop, onFailure } = facts;
  if (slots.every(({ state }) => state === 'ended')) return { kind: 'finish' };
  if (stop !== undefined) return stopRest(slots, stop);
  return (onFailure === 'abort' ? beforeRunning(slots) : undefined) ?? nextOfGroup(facts);
}

function nextOfGroup({ strategy, slots, steeringCheckedUpTo }: BatchFacts): BatchStep {
  const groups = groupsOf(
    strategy,
    slots.map(({ readOnly }) => readOnly),
  );
  const current = groups.findIndex((group) => group.some((index) => slots[index]?.state !== 'ended'));
  const group = groups[current] ?? [];
  const untouched = group.every((index) => isWaiting(slots[index]));
  if (current > 0 && untouched && steeringCheckedUpTo < current) return { kind: 'checkSteering', group: current };
  const indexes = startable(group, slots, strategy);
  return indexes.length === 0 ? WAIT : { kind: 'submit', indexes };
}

/** All waiting calls; of those with side effects only the first, if they must not overlap and none is in progress. */
function startable(group: readonly number[], slots: readonly BatchSlot[], strategy: BatchStrategy): number[] {
  const waiting = group.filter((index) => isWaiting(slots[index]));
  if (strategy.type !== 'parallel' || !strategy.serializeSideEffects) return waiting;
  const underWay = slots.some(({ readOnly, state }) => !readOnly && (state === 'open' || state === 'stopping'));
  const next = underWay ? undefined : waiting.find((index) => slots[index]?.readOnly === false);
  return waiting.filter((index) => slots[index]?.readOnly === true || index === next);
}

/** Step before any call may start under `abort`. Undefined if all calls may start. */
function beforeRunning(slots: readonly BatchSlot[]): BatchStep | undefined {
  const culprits = slots.filter(({ verdict, notStarted }) => verdict === 'refused' || verdict === 'malformed' || notStarted);
  if (culprits.length > 0) return { kind: 'abort', malformed: culprits.some(({ verdict }) => verdict === 'malformed') };
  const unasked = indexesOf(slots, ({ verdict, state }) => verdict === 'ask' && state === 'pending');
  if (unasked.length > 0) return { kind: 'submit', indexes: unasked };
  return slots.some(({ state }) => state === 'asking') ? WAIT : undefined;
}

function stopRest(slots: readonly BatchSlot[], reason: BatchStop['reason']): BatchStep {
  const unstarted = indexesOf(slots, ({ state }) => state === 'pending' || state === 'asking' || state === 'approved');
  if (unstarted.length > 0) return { kind: 'skip', indexes: unstarted };
  const open = reason === 'cancelled' ? indexesOf(slots, ({ state }) => state === 'open') : [];
  return open.length > 0 ? { kind: 'cancel', indexes: open } : WAIT;
}

function isWaiting(slot: BatchSlot | undefined): boolean {
  return slot?.state === 'pending' || slot?.state === 'approved';
}

function indexesOf(slots: readonly BatchSlot[], wanted: (slot: BatchSlot) => boolean): number[] {
  return slots.flatMap((slot, index) => (wanted(slot) ? [index] : []));
}
