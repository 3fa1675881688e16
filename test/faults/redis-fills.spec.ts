import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch } from '#contracts';
import { createRedis, keys, measureMemory, partitionOf, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Installation without a database: events leave Redis without waiting for rows. */
describe('a Redis with a maxmemory, of which more than 60 % is used', () => {
  let folder: string;
  let cluster: TestCluster;
  let agent: Agent;
  let redis: RedisConnection;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-fills-'));
    const env = { ARCHIVE_URL: `file://${folder}` };
    cluster = await startTestCluster({ env });
    await cluster.projector({ ...env, DATABASE_URL: '' });
    agent = new Agent(cluster.gateways[0]?.url ?? '');
    redis = createRedis(cluster.redis.url);
  });
  afterAll(async () => {
    redis?.disconnect();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const fillTo = async (share: number) => {
    const { usedBytes } = await measureMemory(redis);
    await redis.config('SET', 'maxmemory', Math.round(usedBytes / share));
  };
  const run = async () => {
    const body = { calls: [{ tool: 'echo', arguments: { text: 'kept' } }] };
    const batch = (await agent.request<Batch>('POST', '/v1/batches', body, { prefer: 'wait=30' })).body;
    return { batchId: batch.id, callId: batch.results[0]?.callId ?? '' };
  };
  /** Simulates a batch that ended long ago. */
  const age = (batchId: string) => redis.zadd(keys.endedBatches(partitionOf(batchId)), 'XX', 1, batchId);
  const statusOf = async (batchId: string) => (await agent.get(`/v1/batches/${batchId}`)).status;
  /** The gateway looks once for batches of each partition while it holds the lock; the next lock comes after that look. */
  const nextSweep = async () => {
    for (let looks = 0; looks < 2; looks += 1) {
      await redis.del(keys.batchSweeper());
      await eventually(async () => (await redis.exists(keys.batchSweeper())) === 1, 'the gateway to look for batches');
    }
  };

  it('deletes archived calls and ended batches at once, and keeps both below', async () => {
    const { batchId, callId } = await run();
    await fillTo(0.4);
    await age(batchId);
    await nextSweep();
    expect(await statusOf(batchId)).toBe(200);
    expect(await redis.exists(keys.call(callId))).toBe(1);

    // Memory use of Redis varies by a few percent at such a small size.
    const whenFull = async (isTrue: () => Promise<boolean>) => {
      await fillTo(0.65);
      return isTrue();
    };
    await eventually(() => whenFull(async () => (await redis.exists(keys.call(callId))) === 0), 'the call to leave Redis');
    await eventually(() => whenFull(async () => (await statusOf(batchId)) === 404), 'the batch to be forgotten');
    const { body } = await agent.get(`/v1/calls/${callId}`);
    expect(body).toMatchObject({ id: callId, outcome: 'completed', arguments: { text: 'kept' } });
  });
});
