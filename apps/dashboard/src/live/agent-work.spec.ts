import { describe, expect, it } from '@jest/globals';
import type { CallRow } from '../calls/call-row.js';
import { IDLE_MS, workOf } from './agent-work.js';

const NOW = 1_000_000_000;

function row(id: string, more: Partial<CallRow>): CallRow {
  return {
    id,
    tool: 'echo',
    status: 'ended',
    retrying: false,
    suspended: false,
    cancelling: false,
    attempt: 1,
    submittedAt: NOW - 1000,
    ...more,
  };
}

describe('the work of agents', () => {
  it('shows one row for each agent and session, with the questions to people first', () => {
    const agents = workOf(
      [
        row('e', { agentId: 'ann', sessionId: 'one', status: 'running' }),
        row('d', { agentId: 'ann', sessionId: 'two' }),
        row('c', { agentId: 'bob', sessionId: 'one', status: 'queued' }),
        row('b', { agentId: 'ann', sessionId: 'one', status: 'waiting_approval' }),
        row('a', { agentId: 'ann', sessionId: 'one' }),
      ],
      NOW,
    );
    expect(agents.map(({ agentId, sessionId, open, last }) => [agentId, sessionId, open.map(({ id }) => id), last.id])).toEqual([
      ['ann', 'one', ['b', 'e'], 'e'],
      ['bob', 'one', ['c'], 'c'],
      ['ann', 'two', [], 'd'],
    ]);
  });

  it('shows one row for each schedule whose calls have neither agent nor session', () => {
    const agents = workOf(
      [
        row('d', { scheduleId: 'disk' }),
        row('c', { scheduleId: 'backup' }),
        row('b', { scheduleId: 'disk', status: 'running' }),
        row('a', { scheduleId: 'disk', agentId: 'ann' }),
      ],
      NOW,
    );
    expect(agents.map(({ agentId, scheduleId, last }) => [agentId, scheduleId, last.id])).toEqual([
      [undefined, 'disk', 'd'],
      [undefined, 'backup', 'c'],
      ['ann', undefined, 'a'],
    ]);
  });

  it('keeps the place of each question when newer ones arrive', () => {
    const asked = (id: string, agentId: string, submittedAt: number) => row(id, { agentId, submittedAt, status: 'waiting_approval' });
    const before = workOf([asked('c', 'ann', 3), asked('b', 'bob', 2), asked('a', 'ann', 1)], NOW);
    const after = workOf(
      [asked('e', 'eve', 5), asked('d', 'bob', 4), asked('c', 'ann', 3), asked('b', 'bob', 2), asked('a', 'ann', 1)],
      NOW,
    );
    expect(before.map(({ open }) => open.map(({ id }) => id))).toEqual([['a', 'c'], ['b']]);
    expect(after.map(({ open }) => open.map(({ id }) => id))).toEqual([['a', 'c'], ['b', 'd'], ['e']]);
  });

  it('hides agents that have been idle for a while, but none with an open call', () => {
    const old = NOW - IDLE_MS - 1;
    const rows = [
      row('b', { sessionId: 'idle', submittedAt: old, endedAt: old }),
      row('a', { sessionId: 'busy', submittedAt: old, status: 'running' }),
    ];
    expect(workOf(rows, NOW).map(({ sessionId }) => sessionId)).toEqual(['busy']);
  });
});
