import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nextStep, type AgentLimits, type AnsweredTurn, type LoopState } from './agent-loop.decider.js';

const LIMITS: AgentLimits = { turns: 10, depth: 1, tokens: 1_000, modelMs: 1_000, calls: 10 };
const turn = (more: Partial<AnsweredTurn> = {}): AnsweredTurn => ({ toolCalls: [], leftOut: 0, ...more });
const calling = (count: number) => turn({ toolCalls: Array.from({ length: count }, () => ({})) });
const NOTHING = { tokens: 0, modelMs: 0, calls: 0 };
const state = (more: Partial<LoopState> = {}): LoopState => ({
  turns: [],
  unsubmitted: 0,
  open: [],
  spent: NOTHING,
  limits: LIMITS,
  ...more,
});

describe('the next step of a sub-agent', () => {
  it('asks a model, then makes the calls of the answer, then waits for them, then asks again', () => {
    const turns = [calling(1)];
    expect(nextStep(state())).toEqual({ kind: 'ask', turn: 1 });
    expect(nextStep(state({ turns, unsubmitted: 1 }))).toEqual({ kind: 'submit', turn: 1 });
    expect(nextStep(state({ turns, open: ['00-a'] }))).toEqual({ kind: 'wait', callIds: ['00-a'] });
    expect(nextStep(state({ turns, open: ['00-a'], unsubmitted: 1 }))).toEqual({ kind: 'wait', callIds: ['00-a'] });
    expect(nextStep(state({ turns }))).toEqual({ kind: 'ask', turn: 2 });
    expect(nextStep(state({ turns: [...turns, turn()] }))).toEqual({ kind: 'end' });
  });

  it('ends a sub-agent at each limit before it spends anything more [TS-41]', () => {
    const turns = [calling(2)];
    const limitOf = (more: Partial<LoopState>) => nextStep(state({ turns, ...more }));
    expect(limitOf({ turns: Array.from({ length: 10 }, () => calling(1)) })).toEqual({ kind: 'end', limit: 'max_turns' });
    expect(limitOf({ spent: { ...NOTHING, tokens: 1_000 } })).toEqual({ kind: 'end', limit: 'max_tokens' });
    expect(limitOf({ spent: { ...NOTHING, modelMs: 1_000 } })).toEqual({ kind: 'end', limit: 'max_time' });
    expect(limitOf({ unsubmitted: 2, spent: { ...NOTHING, calls: 9 } })).toEqual({ kind: 'end', limit: 'max_calls' });
  });

  it('waits for running calls of a sub-agent, and submits and asks nothing at a limit', () => {
    const number = fc.integer({ min: 0, max: 20 });
    const anyState = fc.record({
      turns: number,
      calls: number,
      unsubmitted: fc.nat(20),
      open: fc.nat(3),
      spent: fc.record({ tokens: number, modelMs: number, calls: number }),
      limit: number,
    });
    fc.assert(
      fc.property(anyState, ({ turns, calls, unsubmitted, open, spent, limit }) => {
        const limits = { turns: limit, depth: 1, tokens: limit, modelMs: limit, calls: limit };
        const last = calling(calls);
        const given = state({
          turns: Array.from({ length: turns }, () => last),
          unsubmitted,
          open: calls > 0 ? Array.from({ length: open }, (_unused, n) => `00-${n}`) : [],
          spent,
          limits,
        });
        const step = nextStep(given);
        if (given.turns.length > 0 && given.open.length > 0) expect(step.kind).toBe('wait');
        if (step.kind === 'ask' || step.kind === 'submit') {
          expect(turns).toBeLessThan(limit);
          expect(Math.max(spent.tokens, spent.modelMs)).toBeLessThan(limit);
        }
        if (step.kind === 'submit') expect(spent.calls + unsubmitted).toBeLessThanOrEqual(limit);
        if (step.kind === 'ask') expect(step.turn).toBe(turns + 1);
      }),
      { numRuns: 1_000 },
    );
  });
});
