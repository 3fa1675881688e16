import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ApiKeyConfig, Problem, WorkerOutput } from '#contracts';
import { BlobStore } from '#event-log';
import { createRedis, keys as redisKeys, partitionOf } from '#redis';
import { eventually } from '../support/eventually.js';
import { ADD, ScriptedWorker } from '../support/foreign-worker.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const WORK_KEY = 'key-of-a-worker-with-states-1';
const keys: ApiKeyConfig[] = [
  { id: 'all', key: BOOTSTRAP_KEY, tenant: 'states', scopes: ['submit', 'read', 'cancel'], tools: ['*'] },
  { id: 'works', key: WORK_KEY, tenant: 'states', scopes: ['work'] },
];

let gateway: TestGateway;
beforeAll(async () => void (gateway = await startTestGateway('states', { keys, tenantCallBytes: 20_000, tenantSessionBytes: 40_000 })));
afterAll(() => gateway.close());

it('ends a call whose foreign worker suspends it with a state beyond its tenant’s room, and stores nothing', async () => {
  const worker = await ScriptedWorker.ready(gateway.url, WORK_KEY, 'states', [ADD], 2);
  const submit = async () => (await gateway.agent.accepted('add', { a: 1, b: 2 }, { sessionId: 'one' })).id;
  const [first, second] = [await submit(), await submit()];
  const calls = [await worker.next('call'), await worker.next('call')];
  for (const id of [first, second]) {
    const { callId, fence } = calls.find((call) => call.callId === id) ?? { callId: 'none', fence: 0 };
    worker.send({ op: 'suspend', callId, fence, until: 'input', prompt: 'Which?', state: 'x'.repeat(25_000) });
    expect(await worker.next('done')).toMatchObject({ callId });
  }
  expect(await gateway.agent.ended(second)).toMatchObject({ outcome: 'failed', error: { code: 'unavailable', retryable: true } });
  expect((await gateway.agent.get<{ status: string }>(`/v1/calls/${first}`)).body.status).toBe('waiting_input');
  const redis = createRedis(gateway.redisUrl);
  const blobs = new BlobStore(redis);
  const isStored = async (id: string) => (await blobs.get(id, 'suspension.1')) !== undefined;
  expect([await isStored(first), await isStored(second)]).toEqual([true, false]);
  expect(Number(await redis.get(redisKeys.openBytes(partitionOf(first), 'states')))).toBeGreaterThan(25_000);
  await gateway.agent.request('POST', `/v1/calls/${first}/cancel`, {});
  await gateway.agent.ended(first);
  expect(await redis.get(redisKeys.openBytes(partitionOf(first), 'states'))).toBe('0');
  redis.disconnect();
  worker.close();
});

const put = async (worker: string, { callId, fence }: { callId: string; fence: number }) => {
  const query = new URLSearchParams({ worker, fence: String(fence) }).toString();
  const headers = { authorization: `Bearer ${WORK_KEY}`, 'content-type': 'text/plain' };
  const answer = await fetch(`${gateway.url}/v1/calls/${callId}/output?${query}`, { method: 'PUT', headers, body: 'x'.repeat(30_000) });
  return { status: answer.status, body: (await answer.json()) as WorkerOutput & Problem };
};

it('refuses an output of a foreign worker for which its tenant has no room, and takes it when another was read', async () => {
  const worker = await ScriptedWorker.ready(gateway.url, WORK_KEY, 'outputs', [{ ...ADD, name: 'sum' }], 2);
  for (let sent = 0; sent < 2; sent += 1) await gateway.agent.accepted('sum', { a: 1, b: 2 });
  const [first, second] = [await worker.next('call'), await worker.next('call')];
  const { body: output } = await put('outputs', first);
  expect(await put('outputs', first)).toMatchObject({ status: 200 });
  expect(await put('outputs', second)).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } });
  worker.send({ op: 'finish', callId: first.callId, fence: first.fence, wseq: 1, outcome: 'completed', output });
  expect(await worker.next('done')).toMatchObject({ callId: first.callId });
  await eventually(async () => (await put('outputs', second)).status === 200, 'the room of the output that was read');
  worker.send({ op: 'finish', callId: second.callId, fence: second.fence, wseq: 1, outcome: 'completed', content: [] });
  expect(await worker.next('done')).toMatchObject({ callId: second.callId });
  worker.close();
});

it('takes an output of a foreign worker in the room of one that was never read, whose attempt is over', async () => {
  const worker = await ScriptedWorker.ready(gateway.url, WORK_KEY, 'unread', [{ ...ADD, name: 'total' }], 2);
  for (let sent = 0; sent < 2; sent += 1) await gateway.agent.accepted('total', { a: 1, b: 2 });
  const [first, second] = [await worker.next('call'), await worker.next('call')];
  expect(await put('unread', first)).toMatchObject({ status: 200 });
  expect(await put('unread', second)).toMatchObject({ status: 429, body: { code: 'quota_exceeded', retryAfterMs: 5_000 } });
  // Sessions have room of their own.
  expect((await gateway.agent.request('POST', '/v1/sessions/beside/steer', { message: 'x'.repeat(16_000) })).status).toBe(202);
  worker.send({ op: 'finish', callId: first.callId, fence: first.fence, wseq: 1, outcome: 'completed', content: [] });
  expect(await worker.next('done')).toMatchObject({ callId: first.callId });
  expect(await put('unread', second)).toMatchObject({ status: 200 });
  worker.close();
});
