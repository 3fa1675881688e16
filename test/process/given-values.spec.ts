import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, Call, Problem } from '#contracts';
import { createRedis, keys, partitionOf, type RedisConnection } from '#redis';
import { eventually } from '../support/eventually.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

/** Values of people that are stored beside the log: inputs of calls that asked, and edited arguments. */
describe('values that people give', () => {
  let gateway: TestGateway;
  /** Its tenant has less room than one value needs. */
  let narrow: TestGateway;
  let redis: RedisConnection;
  beforeAll(async () => {
    gateway = await startTestGateway('given', { tenantCallBytes: 400_000 });
    narrow = await startTestGateway('given-narrow', { tenantCallBytes: 20_000 });
    redis = createRedis(gateway.redisUrl);
  });
  afterAll(async () => {
    redis.disconnect();
    await narrow.close();
    await gateway.close();
  });

  const stored = async (id: string) => (await redis.keys(keys.blob(id, '*'))).filter((key) => /:(input|edited)[^:]*$/.test(key));
  const counted = async (id: string, tenant: string) => Number(await redis.get(keys.openBytes(partitionOf(id), tenant)));
  type Answer = Call & Omit<Problem, 'status'>;

  const asking = async (at: TestGateway) => {
    const { id } = await at.agent.accepted('echo', { text: 'x' });
    await (await at.claim(id)).requestInput({ prompt: 'Which?' });
    return id;
  };
  const give = (at: TestGateway, id: string, text: string) =>
    at.agent.request<Answer>('POST', `/v1/calls/${id}/input`, { value: text.padEnd(60_000, 'x') });

  const waiting = async (at: TestGateway) => {
    await at.agent.request('PUT', '/v1/sessions/asks', { posture: { permissionMode: 'prompt' } });
    const { body } = await at.agent.submit('file_write', { path: 'a.txt', content: 'submitted' }, { sessionId: 'asks' });
    expect(body.status).toBe('waiting_approval');
    return body.id;
  };
  /** Call whose approval is deferred until the other one of its batch is decided. */
  const waitingInBatch = async (at: TestGateway) => {
    await at.agent.request('PUT', '/v1/sessions/batch', { posture: { permissionMode: 'prompt' } });
    const call = { tool: 'file_write', arguments: { path: 'a.txt', content: 'submitted' } };
    const batch = { strategy: { type: 'parallel' }, onFailure: 'abort', sessionId: 'batch', calls: [call, call] };
    const { body } = await at.agent.request<Batch>('POST', '/v1/batches', batch, { prefer: 'wait=0' });
    return eventually(async () => {
      const { results } = (await at.agent.get<Batch>(`/v1/batches/${body.id}`)).body;
      const ids = results.flatMap(({ status, callId }) => (status === 'waiting_approval' ? [callId] : []));
      return ids.length === 2 ? ids[0] : undefined;
    }, 'both calls to wait');
  };
  const edit = (at: TestGateway, id: string, text: string) =>
    at.agent.request<Answer>('POST', `/v1/calls/${id}/decision`, {
      decision: 'allow',
      arguments: { path: 'a.txt', content: text.padEnd(60_000, 'x') },
    });
  const cancel = async (at: TestGateway, id: string) => {
    await at.agent.request('POST', `/v1/calls/${id}/cancel`, {});
    await at.agent.ended(id);
  };

  it('counts equal edits of a deferred approval once, for any number of concurrent ones', async () => {
    const id = await waitingInBatch(gateway);
    const before = await counted(id, 'given');
    const answers = await Promise.all(Array.from({ length: 6 }, () => edit(gateway, id, 'a')));
    expect(answers.map(({ status }) => status)).toContain(200);
    expect(await stored(id)).toHaveLength(1);
    expect((await counted(id, 'given')) - before).toBeLessThan(2 * 60_000);
    await cancel(gateway, id);
    expect(await counted(id, 'given')).toBe(0);
  });

  it.each([
    ['inputs', asking, give],
    ['edits', waiting, edit],
    ['deferred edits', waitingInBatch, edit],
  ])('stores only the value that counts of many %s at once, and counts it until its call ends', async (_what, make, answer) => {
    const id = await make(gateway);
    const before = await counted(id, 'given');
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((text) => answer(gateway, id, text)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await stored(id)).toHaveLength(1);
    expect((await counted(id, 'given')) - before).toBeGreaterThan(60_000);
    await cancel(gateway, id);
    // The other call of a batch is cancelled a moment later.
    await eventually(async () => (await counted(id, 'given')) === 0, 'the value to be counted no more');
  });

  it.each([
    ['an input', asking, give],
    ['edited arguments', waiting, edit],
  ])('refuses %s beyond its tenant’s room, and stores nothing of it', async (_what, make, answer) => {
    const id = await make(narrow);
    const { status, body } = await answer(narrow, id, 'a');
    expect([status, body.code, body.detail]).toEqual([429, 'quota_exceeded', expect.stringContaining('TENANT_CALL_BYTES')]);
    expect(await stored(id)).toEqual([]);
    expect((await narrow.agent.get(`/v1/calls/${id}`)).body.status).toMatch(/^waiting_/);
    await cancel(narrow, id);
    expect(await counted(id, 'given-narrow')).toBe(0);
  });
});
