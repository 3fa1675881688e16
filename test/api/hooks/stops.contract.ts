import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, Call } from '#contracts';
import type { Agent } from '../../support/agent.js';
import { eventually } from '../../support/eventually.js';
import { type HookTenant, isAlive, problemOf, type HookTestAgents } from '../../support/hook-tenant.js';

const ON_BEFORE = { name: 'guard', on: 'before' } as const;

export const stopAgents = (files: HookTenant): HookTestAgents => {
  const sleeper = (name: string) => files.sleeper(name);
  return {
    gone: { hooks: [{ ...ON_BEFORE, command: sleeper('gone-pids'), timeoutMs: 60_000 }] },
    'gone-socket': { hooks: [{ ...ON_BEFORE, command: sleeper('socket-pids'), timeoutMs: 60_000 }] },
    stopped: { hooks: [{ ...ON_BEFORE, command: sleeper('stopped-pids'), timeoutMs: 60_000, onError: 'deny' }] },
    'stopped-batch': { hooks: [{ ...ON_BEFORE, command: sleeper('stopped-batch-pids'), timeoutMs: 60_000 }] },
    'stopped-turn': { hooks: [{ ...ON_BEFORE, command: sleeper('stopped-turn-pids'), timeoutMs: 60_000 }] },
  };
};

/** Contract: events that stop a hook before a call: the end of its caller, session or batch. */
export function hookStopsContract(started: () => HookTenant): void {
  let hooked: HookTenant;
  let agent: Agent;

  beforeAll(() => {
    hooked = started();
    ({ agent } = hooked);
  });

  describe('a hook before a call', () => {
    it('stops a hook with all its processes when the caller disconnects, and cancels the call [HK-20]', async () => {
      const away = new AbortController();
      const sessionId = hooked.newSession('gone');
      const request = fetch(`${agent.url}/v1/calls`, {
        method: 'POST',
        signal: away.signal,
        headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ tool: 'echo', arguments: {}, agentId: 'gone', sessionId }),
      });
      const pids = await hooked.pidsIn('gone-pids');
      away.abort();
      await expect(request).rejects.toThrow(/abort/i);
      await eventually(() => !pids.some(isAlive), 'the processes of the hook to be gone');
      const list = () => agent.get<{ calls: Call[] }>(`/v1/calls?sessionId=${sessionId}`);
      const call = await eventually(async () => (await list()).body.calls[0], 'the call to be recorded');
      expect(call).toMatchObject({ status: 'ended', outcome: 'cancelled', attempt: 0 });
    });

    it('stops a hook when its caller was a socket that is closed', async () => {
      const stream = await agent.stream();
      stream.send({ op: 'submit', id: 1, call: { tool: 'echo', arguments: {}, agentId: 'gone-socket' } });
      const pids = await hooked.pidsIn('socket-pids');
      stream.close();
      await eventually(() => !pids.some(isAlive), 'the processes of the hook to be gone');
    });

    it('stops a hook with all that it started when its session is cancelled, and no other session', async () => {
      const sessionId = hooked.newSession('cancelled');
      const submitted = hooked.submitAs('stopped', 'echo', {}, { sessionId });
      const pids = await hooked.pidsIn('stopped-pids');
      await agent.request('POST', '/v1/sessions/another/cancel', {});
      expect(pids.every(isAlive)).toBe(true);
      expect((await agent.request('POST', `/v1/sessions/${sessionId}/cancel`, {})).status).toBe(202);
      const { callId, detail } = problemOf(await submitted);
      expect(detail).toContain('Cancelled: the session was cancelled while hook `guard` ran');
      expect(await agent.ended(callId)).toMatchObject({ outcome: 'cancelled', attempt: 0, error: { code: 'cancelled' } });
      await eventually(() => !pids.some(isAlive), 'the processes of the hook to be gone');
    });

    it('stops a hook about a call of a batch when the session is cancelled', async () => {
      const sessionId = hooked.newSession('cancelled');
      const calls = [1, 2].map((n) => ({ tool: 'echo', arguments: { n } }));
      const body = { sessionId, agentId: 'stopped-batch', strategy: { type: 'sequential' }, calls };
      const { body: batch } = await agent.request<Batch>('POST', '/v1/batches', body);
      const pids = await hooked.pidsIn('stopped-batch-pids');
      await agent.request('POST', `/v1/sessions/${sessionId}/cancel`, {});
      const ended = await eventually(async () => {
        const answer = await agent.get<Batch>(`/v1/batches/${batch.id}?wait=10`);
        return answer.body.status === 'ended' ? answer.body : undefined;
      }, 'the batch to end');
      expect(ended.results.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled']);
      await eventually(() => !pids.some(isAlive), 'the processes of the hook to be gone');
    });

    it('stops a hook when the batch of its call is cancelled, also without a session', async () => {
      const body = { agentId: 'stopped-turn', strategy: { type: 'sequential' }, calls: [{ tool: 'echo', arguments: {} }] };
      const { body: batch } = await agent.request<Batch>('POST', '/v1/batches', body);
      const pids = await hooked.pidsIn('stopped-turn-pids');
      expect((await agent.request('POST', `/v1/batches/${batch.id}/cancel`, {})).status).toBe(202);
      await eventually(() => !pids.some(isAlive), 'the processes of the hook to be gone');
      const { body: after } = await agent.get<Batch>(`/v1/batches/${batch.id}?wait=10`);
      expect(after.results.map(({ outcome, error }) => [outcome, error?.message])).toEqual([
        ['cancelled', 'Cancelled: the batch was cancelled while hook `guard` ran'],
      ]);
    });
  });
}
