import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Batch } from '#contracts';
import { createRedis, keys, partitionOf } from '#redis';
import { eventually } from '../support/eventually.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const ROOM = 6_000;

describe('what Redis keeps of the open batches of a tenant', () => {
  let gateway: TestGateway;
  let tenant: string;
  let tenants = 0;
  beforeEach(async () => {
    tenant = `tenant-batches-${(tenants += 1)}`;
    gateway = await startTestGateway(tenant, { tenantBatchBytes: ROOM });
  });
  afterEach(() => gateway.close());

  // No worker runs its call: it stays open until it is cancelled.
  const submit = async (key?: string) => {
    const calls = [{ tool: 'echo', arguments: { text: 'x'.repeat(1_000) } }];
    return gateway.agent.request<Batch>(
      'POST',
      '/v1/batches',
      { sessionId: 's', calls },
      key === undefined ? {} : { 'Idempotency-Key': key },
    );
  };
  const cancelled = async (id: string) => {
    await gateway.agent.request('POST', `/v1/batches/${id}/cancel`, {});
    await eventually(async () => (await gateway.agent.get<Batch>(`/v1/batches/${id}`)).body.status === 'ended', 'the end of the batch');
  };
  const counted = async (id: string) => {
    const redis = createRedis(gateway.redisUrl);
    const sum = await redis.hget(keys.tenantBatches(partitionOf(id), tenant), '');
    redis.disconnect();
    return sum;
  };

  it('refuses a batch beyond TENANT_BATCH_BYTES, and accepts it when another one has ended', async () => {
    const first = await submit('first');
    expect([first.status, (await submit()).status]).toEqual([202, 202]);
    const refused = await submit('third');
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota_exceeded', detail: expect.stringContaining('TENANT_BATCH_BYTES') } });
    expect(refused.headers.get('retry-after')).toBe('5');
    // A repetition is no further batch.
    expect((await submit('first')).body.id).toBe(first.body.id);
    await cancelled(first.body.id);
    expect((await submit('third')).status).toBe(202);
  });

  it('counts no ended batches', async () => {
    const { id } = (await submit()).body;
    expect(Number(await counted(id))).toBeGreaterThan(1_000);
    await cancelled(id);
    expect(await counted(id)).toBeNull();
  });

  it('frees the room of a batch that ended under a release without this count', async () => {
    const { id } = (await submit()).body;
    const redis = createRedis(gateway.redisUrl);
    await redis.hset(keys.tenantBatches(partitionOf(id), tenant), { [`${partitionOf(id)}-gone`]: ROOM, '': ROOM + 2_000 });
    redis.disconnect();
    expect((await submit()).status).toBe(202);
  });
});
