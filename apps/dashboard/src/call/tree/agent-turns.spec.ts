import { describe, expect, it } from '@jest/globals';
import type { CallEvent, CallSummary } from '#contracts';
import { spentOf, turnsOf } from './agent-turns.js';

const turn = (number: number, toolCalls: object[], input = 10): CallEvent =>
  ({
    type: 'call.turn',
    time: '2026-01-01T00:00:00Z',
    data: { turn: number, model: 'm', requestSha256: '', toolCalls, usage: { inputTokens: input, outputTokens: 5 }, tookMs: 100 },
  }) as unknown as CallEvent;
const child = (id: string, toolCallId: string, second: number) =>
  ({ id, tool: 'echo', toolCallId, submittedAt: `2026-01-01T00:00:0${second}Z` }) as CallSummary;

describe('the turns of a sub-agent', () => {
  it("finds the calls of a sub-agent's turns even with duplicate ids or refused calls", () => {
    const events = [
      turn(1, [{ toolCallId: 'a', tool: 'echo' }]),
      turn(2, [
        { toolCallId: 'a', tool: 'echo' },
        { toolCallId: 'b', tool: 'gone' },
      ]),
    ];
    const turns = turnsOf(events, [child('second', 'a', 2), child('first', 'a', 1)]);
    expect(turns.map(({ calls }) => calls.map(({ call }) => call?.id))).toEqual([['first'], ['second', undefined]]);
  });

  it('sums the turns of a sub-agent until its result has the total with nested sub-agents', () => {
    const children = [child('first', 'a', 1)];
    const turns = turnsOf([turn(1, []), turn(2, [], 20)], children);
    expect(spentOf(turns, children)).toEqual({ turns: 2, tokens: 40, modelMs: 200, calls: 1 });
    const details = { tokens: 90, modelMs: 500, calls: 4, stopped: 'max_calls' };
    expect(spentOf(turns, children, details)).toEqual({ turns: 2, tokens: 90, modelMs: 500, calls: 4, stopped: 'max_calls' });
  });
});
