import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BatchStop, BatchStrategy, OnFailure } from '#contracts';
import { groupsOf } from '../calls/strategy-groups.decider.js';
import { nextStep, type BatchSlot, type BatchStep, type Verdict } from './batch.decider.js';

const strategies = fc.oneof(
  fc.constant<BatchStrategy>({ type: 'tiered' }),
  fc.constant<BatchStrategy>({ type: 'sequential' }),
  fc.boolean().map((serializeSideEffects): BatchStrategy => ({ type: 'parallel', serializeSideEffects })),
  fc.integer({ min: 1, max: 5 }).map((size): BatchStrategy => ({ type: 'batched', size })),
);
const verdicts = fc.constantFrom<Verdict>('allow', 'allow', 'allow', 'ask', 'refused', 'malformed');
const calls = fc.array(fc.record({ readOnly: fc.boolean(), verdict: verdicts, denied: fc.boolean() }), { minLength: 1, maxLength: 12 });
type Call = { readOnly: boolean; verdict: Verdict; denied: boolean };

interface Played {
  /** Order of starts (`+index`) and ends (`-index`). */
  readonly trace: readonly string[];
  readonly skipped: ReadonlySet<number>;
  readonly looks: readonly number[];
  readonly finished: boolean;
}

/** Plays a batch to its end: takes every step of the decider, and lets one chosen thing happen whenever the decider waits. */
function play(given: readonly Call[], strategy: BatchStrategy, onFailure: OnFailure, choose: () => number, steeredBefore?: number): Played {
  const slots = given.map(({ readOnly, verdict }): { -readonly [K in keyof BatchSlot]: BatchSlot[K] } => ({
    readOnly,
    verdict,
    state: 'pending',
    notStarted: false,
  }));
  const trace: string[] = [];
  const skipped = new Set<number>();
  const looks: number[] = [];
  let stop: BatchStop['reason'] | undefined;
  let steeringCheckedUpTo = 0;
  const at = (index: number) => slots[index]!;
  const start = (index: number) => {
    at(index).state = 'open';
    trace.push(`+${index}`);
  };
  const submit = (index: number) => {
    const { verdict, state } = at(index);
    if (verdict === 'refused' || verdict === 'malformed') Object.assign(at(index), { state: 'ended', notStarted: true });
    else if (verdict === 'ask' && state === 'pending' && onFailure === 'abort') at(index).state = 'asking';
    else start(index);
  };
  const take = (step: BatchStep): boolean => {
    if (step.kind === 'submit') step.indexes.forEach(submit);
    else if (step.kind === 'abort') stop = 'aborted';
    else if (step.kind === 'skip')
      step.indexes.forEach((index) => (skipped.add(index), Object.assign(at(index), { state: 'ended', notStarted: true })));
    else if (step.kind === 'checkSteering') {
      looks.push(step.group);
      steeringCheckedUpTo = step.group;
      if (step.group === steeredBefore) stop = 'steered';
    }
    return step.kind !== 'finish';
  };
  for (let steps = 0; steps < 500; steps++) {
    const step = nextStep({ strategy, onFailure, slots, stop, steeringCheckedUpTo });
    if (!take(step)) return { trace, skipped, looks, finished: true };
    if (step.kind !== 'wait') continue;
    const movable = slots.flatMap(({ state }, index) => (state === 'open' || state === 'asking' ? [index] : []));
    const index = movable[choose() % Math.max(1, movable.length)];
    if (index === undefined) break;
    if (at(index).state === 'open') {
      at(index).state = 'ended';
      trace.push(`-${index}`);
    } else Object.assign(at(index), given[index]!.denied ? { state: 'ended', notStarted: true } : { state: 'approved' });
  }
  return { trace, skipped, looks, finished: false };
}

/** Calls that ran concurrently, for every moment. */
function overlaps(trace: readonly string[]): number[][] {
  const running = new Set<number>();
  return trace.map((mark) => {
    if (mark.startsWith('+')) running.add(Number(mark.slice(1)));
    else running.delete(Number(mark.slice(1)));
    return [...running];
  });
}

const choices = fc.infiniteStream(fc.nat({ max: 1000 })).map((stream) => () => Number(stream.next().value));

describe('a batch, by its decider', () => {
  it('puts every call of a batch into one group, in order, for any strategy', () => {
    fc.assert(
      fc.property(strategies, fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), (strategy, readOnly) => {
        expect(groupsOf(strategy, readOnly).flat()).toEqual(readOnly.map((_, index) => index));
      }),
    );
  });

  it('runs reads of a batch that follow each other together, and any other call alone', () => {
    expect(groupsOf({ type: 'tiered' }, [true, true, false, true, false, false, true, true])).toEqual([[0, 1], [2], [3], [4], [5], [6, 7]]);
    expect(groupsOf({ type: 'batched', size: 2 }, [true, true, true, true, true])).toEqual([[0, 1], [2, 3], [4]]);
  });

  it('ends a batch with every call ended, for any results in any order', () => {
    fc.assert(
      fc.property(
        calls,
        strategies,
        fc.constantFrom<OnFailure>('isolate', 'abort'),
        choices,
        fc.option(fc.nat({ max: 5 }), { nil: undefined }),
        (given, strategy, onFailure, choose, steered) => {
          expect(play(given, strategy, onFailure, choose, steered).finished).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('overlaps no two groups of a batch, and runs no more calls at once than its strategy allows', () => {
    fc.assert(
      fc.property(calls, strategies, choices, (given, strategy, choose) => {
        const { trace } = play(given, strategy, 'isolate', choose);
        const groups = groupsOf(
          strategy,
          given.map(({ readOnly }) => readOnly),
        );
        const groupOf = new Map(groups.flatMap((group, number) => group.map((index) => [index, number] as const)));
        for (const running of overlaps(trace)) {
          expect(new Set(running.map((index) => groupOf.get(index))).size).toBeLessThanOrEqual(1);
          if (strategy.type === 'sequential') expect(running.length).toBeLessThanOrEqual(1);
          if (strategy.type === 'batched') expect(running.length).toBeLessThanOrEqual(strategy.size);
          const sideEffects = running.filter((index) => !given[index]!.readOnly);
          if (strategy.type === 'tiered' && sideEffects.length > 0) expect(running).toHaveLength(1);
          if (strategy.type === 'parallel' && strategy.serializeSideEffects) expect(sideEffects.length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('runs every allowed call of a batch that is not stopped, also beside rejected ones', () => {
    fc.assert(
      fc.property(calls, strategies, choices, (given, strategy, choose) => {
        const { trace, skipped } = play(given, strategy, 'isolate', choose);
        const started = trace.filter((mark) => mark.startsWith('+')).map((mark) => Number(mark.slice(1)));
        const runnable = given.flatMap(({ verdict }, index) => (verdict === 'refused' || verdict === 'malformed' ? [] : [index]));
        expect([started.sort((a, b) => a - b), skipped.size]).toEqual([runnable, 0]);
      }),
      { numRuns: 300 },
    );
  });

  it('runs all calls of an all-or-nothing batch or none', () => {
    fc.assert(
      fc.property(calls, strategies, choices, (given, strategy, choose) => {
        const { trace } = play(given, strategy, 'abort', choose);
        const mayRun = given.every(({ verdict, denied }) => verdict === 'allow' || (verdict === 'ask' && !denied));
        expect(trace.filter((mark) => mark.startsWith('+'))).toHaveLength(mayRun ? given.length : 0);
      }),
      { numRuns: 500 },
    );
  });

  it('checks for steering once before each later group, and starts none of the rest after a message', () => {
    fc.assert(
      fc.property(calls, strategies, choices, fc.nat({ max: 6 }), (given, strategy, choose, steered) => {
        const { trace, skipped, looks } = play(given, strategy, 'isolate', choose, steered);
        const groups = groupsOf(
          strategy,
          given.map(({ readOnly }) => readOnly),
        );
        const isSteered = steered > 0 && steered < groups.length;
        const last = isSteered ? steered : groups.length - 1;
        expect(looks).toEqual(Array.from({ length: last }, (_, n) => n + 1));
        const rest = isSteered ? groups.slice(steered).flat() : [];
        expect([...skipped].sort((a, b) => a - b)).toEqual(rest);
        expect(trace.some((mark) => rest.includes(Math.abs(Number(mark.slice(1)))))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('reports arguments that are no JSON as the reason of a stop, and cancels the open calls of a cancelled batch once', () => {
    const slot = (more: Partial<BatchSlot>): BatchSlot => ({
      readOnly: true,
      verdict: 'allow',
      state: 'pending',
      notStarted: false,
      ...more,
    });
    const facts = { strategy: { type: 'parallel', serializeSideEffects: false }, onFailure: 'abort', steeringCheckedUpTo: 0 } as const;
    expect(nextStep({ ...facts, slots: [slot({}), slot({ verdict: 'malformed' })] })).toEqual({ kind: 'abort', malformed: true });
    expect(nextStep({ ...facts, slots: [slot({}), slot({ verdict: 'refused' })] })).toEqual({ kind: 'abort', malformed: false });
    const running = [slot({ state: 'open' }), slot({ state: 'stopping' })];
    expect(nextStep({ ...facts, slots: running, stop: 'cancelled' })).toEqual({ kind: 'cancel', indexes: [0] });
    expect(nextStep({ ...facts, slots: running, stop: 'steered' })).toEqual({ kind: 'wait' });
  });
});
