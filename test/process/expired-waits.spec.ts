import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Longer than it takes a busy machine to ask for all three and to allow one. */
const APPROVAL_MS = 10_000;

describe('a wait for a person that is over', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  let other: Agent;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 2, env: { APPROVAL_MS: String(APPROVAL_MS), INPUT_MS: '1000' } });
    [agent, other] = toolyard.gateways.map(({ url }) => new Agent(url)) as [Agent, Agent];
  });
  afterAll(() => toolyard?.close());

  it('ends an all-or-nothing batch without a decision in time, also after an approval of one call [PP-95]', async () => {
    await agent.request('PUT', '/v1/sessions/asking', { posture: { permissionMode: 'prompt' } });
    const calls = ['a', 'b', 'c'].map((path) => ({ tool: 'file_write', arguments: { path, content: path } }));
    const { body: submitted } = await agent.request<Batch>('POST', '/v1/batches', {
      onFailure: 'abort',
      strategy: { type: 'parallel' },
      sessionId: 'asking',
      calls,
    });
    const asked = await eventually(async () => {
      const { body } = await agent.get<Batch>(`/v1/batches/${submitted.id}`);
      return body.results.every(({ status }) => status === 'waiting_approval') ? body : undefined;
    }, 'all three to be asked for');
    const yes = await other.request('POST', `/v1/calls/${asked.results[0]?.callId}/decision`, { decision: 'allow' });
    expect(yes.status).toBe(200);
    const batch = await eventually(async () => {
      const { body } = await other.get<Batch>(`/v1/batches/${submitted.id}?wait=20`);
      return body.status === 'ended' ? body : undefined;
    }, 'the batch to end');
    expect(batch.results.every(({ outcome }) => outcome === 'denied' || outcome === 'cancelled')).toBe(true);
    expect(batch.results.some(({ error }) => error?.code === 'approval_expired')).toBe(true);
    for (const { callId } of batch.results) expect((await agent.events(callId ?? '')).map(({ type }) => type)).not.toContain('call.start');
  });

  it('ends a call without its input in time with a typed error', async () => {
    const { body: call } = await agent.submit('ask_user', { question: 'Which branch?' });
    const ended = await agent.ended(call.id);
    expect(ended).toMatchObject({ outcome: 'timed_out', attempt: 1, error: { code: 'input_expired', retryable: true } });
    expect(ended.result).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('input') }] });
    const types = (await agent.events(call.id)).map(({ type }) => type);
    expect(types).toEqual(['call.submitted', 'call.start', 'call.input_requested', 'call.end']);
    const late = await other.request('POST', `/v1/calls/${call.id}/input`, { value: 'late' });
    expect(late.body).toMatchObject({ code: 'conflict', detail: expect.stringContaining('ended') });
  });
});
