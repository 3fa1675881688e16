import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Batch } from '#contracts';
import { BatchStore } from '../../apps/gateway/src/batches/batch-store.service.js';
import { FAIL_FAST_REDIS } from '../../apps/gateway/src/platform/tokens.js';
import { ApprovalEvaluator } from '../../apps/gateway/src/approvals/approval-evaluator.service.js';
import { SubmitCallService } from '../../apps/gateway/src/calls/submit-call.service.js';
import { keys, partitionOf, type RedisConnection } from '#redis';
import { eventually } from '../support/eventually.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const TENANT = 'batch-stops';

describe('a batch', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway(TENANT);
  });
  afterAll(() => gateway?.close());

  const submit = async (body: object) => (await gateway.agent.request<Batch>('POST', '/v1/batches', body)).body;
  const look = async (id: string) => (await gateway.agent.get<Batch>(`/v1/batches/${id}`)).body;
  const ended = (id: string) =>
    eventually(async () => {
      const batch = await look(id);
      return batch.status === 'ended' ? batch : undefined;
    }, `batch ${id} to end`);

  const queued = (id: string, index: number) =>
    eventually(async () => {
      const { status, callId } = (await look(id)).results[index] ?? {};
      return status === 'queued' ? callId : undefined;
    }, `call ${index} of the batch to be queued`);

  it('evaluates each deferred approval again when the batch starts: a call denied by then ends as denied', async () => {
    const { agent } = gateway;
    const session = '/v1/sessions/held';
    await agent.request('PUT', session, { posture: { autonomy: 'supervised' } });
    const write = { tool: 'shell', arguments: { command: 'true' } };
    const { id } = await submit({ onFailure: 'abort', strategy: { type: 'parallel' }, sessionId: 'held', calls: [write, write] });
    const waiting = await eventually(async () => {
      const { results } = await look(id);
      return results.every(({ status }) => status === 'waiting_approval') ? results.map(({ callId }) => callId) : undefined;
    }, 'the questions');
    const allow = (callId = '') => agent.request('POST', `/v1/calls/${callId}/decision`, { decision: 'allow' });
    await allow(waiting[0]);
    const judge = gateway.app.get(ApprovalEvaluator);
    const denialNow = judge.denialNow.bind(judge);
    jest.spyOn(judge, 'denialNow').mockImplementationOnce(async (call, requester) => {
      const before = await denialNow(call, requester);
      await agent.request('PUT', session, { posture: { autonomy: 'read_only' } });
      return before;
    });
    expect((await allow(waiting[1])).status).toBe(200);
    const denied = ['denied', 'policy_denied'];
    expect((await ended(id)).results.map(({ outcome, error }) => [outcome, error?.code])).toEqual([denied, denied]);
  });

  it('reports that a batch was cancelled, for any earlier stop', async () => {
    const { id } = await submit({ calls: [{ tool: 'echo', arguments: { n: 1 } }] });
    const store = gateway.app.get(BatchStore);
    expect(await store.stop(id, { reason: 'aborted', detail: 'first' })).toBe(true);
    expect(await store.stop(id, { reason: 'steered', detail: 'second' })).toBe(false);
    expect(await store.stop(id, { reason: 'cancelled', detail: 'third' })).toBe(true);
    expect(await store.stop(id, { reason: 'cancelled', detail: 'fourth' })).toBe(false);
    expect(await ended(id)).toMatchObject({ stopped: { reason: 'cancelled', detail: 'third' }, results: [{ outcome: 'cancelled' }] });
  });

  it('deletes the oldest ended batches while Redis is full; their calls remain', async () => {
    const cancelled = async (n: number) => {
      const { id } = await submit({ calls: [{ tool: 'echo', arguments: { n } }] });
      await gateway.agent.request('POST', `/v1/batches/${id}/cancel`, {});
      return ended(id);
    };
    const batches = [await cancelled(1), await cancelled(2)];
    const [old = '', recent = ''] = batches.map(({ id }) => id);
    const partition = partitionOf(old);
    const redis = gateway.app.get<RedisConnection>(FAIL_FAST_REDIS);
    // An end before all others of this Redis: nothing of other tests is forgotten.
    expect(await redis.zadd(keys.endedBatches(partition), 'XX', 'CH', 1, old)).toBe(1);
    await gateway.app.get(BatchStore).forgetEnded(partition, 2, 10);
    expect((await gateway.agent.get(`/v1/batches/${old}`)).status).toBe(404);
    expect((await look(recent)).status).toBe('ended');
    expect((await gateway.agent.get(`/v1/calls/${batches[0]?.results[0]?.callId}`)).status).toBe(200);
    expect(await redis.zscore(keys.endedBatches(partition), old)).toBeNull();
  });

  it('ends a batch although one of its calls fails repeatedly by an internal error', async () => {
    const service = gateway.app.get(SubmitCallService);
    const submitCall = service.submit.bind(service);
    const faulty = jest
      .spyOn(service, 'submit')
      .mockImplementation((principal, body, options) =>
        body.labels['faulty'] === undefined ? submitCall(principal, body, options) : Promise.reject(new TypeError('a fault of ours')),
      );
    try {
      const read = { tool: 'echo', arguments: { n: 1 } };
      const calls = [read, { ...read, labels: { faulty: 'yes' } }, read];
      const { id } = await submit({ strategy: { type: 'sequential' }, sessionId: 'faulty', calls });
      for (const index of [0, 2]) await gateway.run(await queued(id, index));
      const outcomes = (await ended(id)).results.map(({ outcome, error }) => [outcome, error?.code]);
      expect(outcomes).toEqual([
        ['completed', undefined],
        ['failed', 'internal'],
        ['completed', undefined],
      ]);
    } finally {
      faulty.mockRestore();
    }
  });
});
