import { describe, expect, it } from '@jest/globals';
import type { BatchStrategy } from '#contracts';
import { nextOf } from './strategy-groups.decider.js';

/** Rounds in which calls start if each waits for the previous one; `+`: a new group. */
const roundsOf = (strategy: BatchStrategy, text: string): string[] => {
  const calls = text.split('').map((kind, at) => ({ at, readOnly: kind === 'r', isStarted: false }));
  const rounds: string[] = [];
  for (;;) {
    const next = nextOf(strategy, calls);
    if (next.calls.length === 0) return rounds;
    rounds.push((next.isNewGroup ? '+' : '') + next.calls.map(({ at }) => at).join(''));
    for (const { at } of next.calls) calls[at] = { at, readOnly: text[at] === 'r', isStarted: true };
  }
};

describe('the calls of a turn that start next', () => {
  it.each([
    [{ type: 'sequential' }, ['0', '+1', '+2', '+3']],
    [{ type: 'tiered' }, ['01', '+2', '+3']],
    [{ type: 'batched', size: 3 }, ['012', '+3']],
    [{ type: 'parallel', serializeSideEffects: false }, ['0123']],
  ] as const)('starts the next group of calls: %j', (strategy, rounds) => {
    expect(roundsOf(strategy, 'rrwr')).toEqual(rounds);
  });

  it('starts all reading calls and one writing call if side effects must not overlap', () => {
    expect(roundsOf({ type: 'parallel', serializeSideEffects: true }, 'rwwrw')).toEqual(['013', '2', '4']);
  });
});
