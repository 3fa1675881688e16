import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Call } from '#contracts';
import { PendingDecisions, HOLD_MS, type Answer } from './pending-decisions.js';

beforeEach(() => {
  jest.useFakeTimers();
  globalThis.requestAnimationFrame = () => 0;
});
afterEach(() => void jest.useRealTimers());

const answer = (id: string, decision: 'allow' | 'deny' = 'allow'): Answer => ({
  call: { id } as Call,
  option: { decision, scope: 'once' },
  reason: '',
});

function harness(refused: readonly string[] = []) {
  const sent: string[] = [];
  const held = new PendingDecisions(async ({ call, option }) => {
    sent.push(`${option.decision} ${call.id}`);
    if (refused.includes(call.id)) throw new Error('stale');
  });
  return { held, sent };
}

it('sends an answer after the wait, or at once on request, and never twice', async () => {
  const { held, sent } = harness();
  held.hold([answer('a')]);
  held.hold([answer('a', 'deny')]);
  await jest.advanceTimersByTimeAsync(HOLD_MS - 1);
  expect(sent).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  held.hold([answer('b', 'deny')]);
  const group = held.groupOf('b')?.id ?? 0;
  await Promise.all([held.sendNow(group), held.sendNow(group)]);
  await jest.advanceTimersByTimeAsync(2 * HOLD_MS);
  expect(sent).toEqual(['allow a', 'deny b']);
});

it('drops a delayed decision that was taken back, that waited when the page was left, or whose timer fired after a sleep', async () => {
  const { held, sent } = harness();
  held.hold([answer('a')]);
  held.undo(held.groupOf('a')?.id ?? 0);
  held.hold([answer('b')]);
  held.drop();
  await jest.advanceTimersByTimeAsync(2 * HOLD_MS);
  expect(sent).toEqual([]);
  held.hold([answer('c')]);
  jest.setSystemTime(Date.now() + 3_600_000);
  await jest.advanceTimersByTimeAsync(2 * HOLD_MS);
  expect([sent, held.groups]).toEqual([[], []]);
});

it('sends each delayed decision of a group, and shows its result', async () => {
  const { held, sent } = harness(['b']);
  held.hold(['a', 'b', 'c'].map((id) => answer(id)));
  await jest.advanceTimersByTimeAsync(HOLD_MS);
  expect(sent).toEqual(['allow a', 'allow b', 'allow c']);
  expect(held.outcomes.map(({ state }) => state)).toEqual(['taken', 'refused', 'taken']);
  held.hold([answer('b', 'deny')]);
  await jest.advanceTimersByTimeAsync(HOLD_MS);
  expect(sent.at(-1)).toBe('deny b');
});

it('drops the delayed decision of a call that no longer waits, and sends the others of its group', async () => {
  const { held, sent } = harness();
  held.hold(['a', 'b'].map((id) => answer(id)));
  held.hold([answer('c')]);
  held.withdraw('a', 'answered elsewhere');
  held.withdraw('c', 'answered elsewhere');
  held.withdraw('unknown', 'answered elsewhere');
  expect([held.groups.length, held.groupOf('a'), held.outcomes.map(({ state }) => state)]).toEqual([1, undefined, ['refused', 'refused']]);
  await jest.advanceTimersByTimeAsync(HOLD_MS);
  expect(sent).toEqual(['allow b']);
});

it('sends or takes back one of several delayed decisions, and leaves the others', async () => {
  const { held, sent } = harness();
  held.hold([answer('a'), answer('b'), answer('c')]);
  await held.sendOne('a');
  held.undoOne('b');
  expect(sent).toEqual(['allow a']);
  await jest.advanceTimersByTimeAsync(HOLD_MS);
  expect(sent).toEqual(['allow a', 'allow c']);
});
