import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, CallEvent } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

describe('batches on real workers', () => {
  let tenant: Tenant;
  let agent: Agent;
  let other: Agent;
  beforeAll(async () => {
    tenant = await useTenant('batches-on-workers');
    ({ agent, other } = tenant);
  });
  afterAll(() => tenant.close());

  const submit = async (body: object, by = agent) => {
    const answer = await by.request<Batch>('POST', '/v1/batches', body);
    expect(answer.status).toBe(202);
    return answer.body;
  };
  const ended = (id: string, by = other) =>
    eventually(async () => {
      const { body } = await by.get<Batch>(`/v1/batches/${id}?wait=20`);
      return body.status === 'ended' ? body : undefined;
    }, `batch ${id} to end`);
  const seqOf = ({ id }: CallEvent) => Number(id.split('.')[2]);

  it('runs 1,000 calls of one turn and returns their results in call order at another gateway [DX-06, EX-03]', async () => {
    const calls = Array.from({ length: 1_000 }, (_nothing, n) => ({ tool: 'echo', arguments: { n }, toolCallId: `t${n}` }));
    const { id } = await submit({ strategy: { type: 'parallel' }, sessionId: 'thousand', calls });
    const batch = await ended(id);
    expect(batch.results.map(({ toolCallId, outcome, result }) => [toolCallId, outcome, result?.content[0]])).toEqual(
      calls.map(({ toolCallId }, n) => [toolCallId, 'completed', { type: 'json', json: { n } }]),
    );
    expect(new Set(batch.results.map(({ callId }) => callId)).size).toBe(1_000);
  });

  it('uses the strategy of the agent, whatever the model writes into arguments [EX-01]', async () => {
    const wish = { strategy: { type: 'parallel' }, onFailure: 'abort', duration_ms: 100 };
    const calls = Array.from({ length: 3 }, () => ({ tool: 'echo', arguments: wish }));
    const { id } = await submit({ strategy: { type: 'sequential' }, sessionId: 'wishes', calls });
    const batch = await ended(id);
    expect([batch.strategy, batch.onFailure]).toEqual([{ type: 'sequential' }, 'isolate']);
    let last = 0;
    for (const { callId } of batch.results) {
      const seqs = (await agent.events(callId ?? '')).map(seqOf);
      expect(seqs[0]).toBeGreaterThan(last);
      last = seqs.at(-1) ?? 0;
    }
    const moved = await agent.request('POST', '/v1/batches', { calls: [{ tool: 'echo', strategy: { type: 'parallel' } }] });
    expect(moved.status).toBe(422);
  });
});
