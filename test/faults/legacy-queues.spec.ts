import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { POOLS } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Longer than the test: no reconciler adds a job. */
const NEVER_DUE_MS = 600_000;

describe('an installation of a release in which all queues have the name "calls"', () => {
  let toolyard: TestCluster;
  let redis: RedisConnection;
  beforeAll(async () => {
    toolyard = await startTestCluster({ workers: 0 });
    redis = createRedis(toolyard.redis.url);
  });
  afterAll(async () => {
    redis?.disconnect();
    await toolyard?.close();
  });

  /** As that release would have left it: the jobs in its queues, and the timers of their calls moved far away. */
  const returnToOldQueues = async () => {
    const older = (key: string) => key.replace(/^(\{q-(\w+)\}):calls-\2:/, '$1:calls:');
    // What has a time to live, as the key of BullMQ's check for stalled jobs, may end meanwhile.
    for (const key of await redis.keys('{q-*')) if ((await redis.pttl(key)) === -1) await redis.rename(key, older(key));
    for (const timers of await redis.keys('{p*}:timers'))
      for (const callId of await redis.zrange(timers, '0', '-1')) await redis.zadd(timers, String(Date.now() + NEVER_DUE_MS), callId);
  };

  it.each(['gateway', 'worker'] as const)('runs each call of queues named "calls" once when a %s of this release starts', async (first) => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const echoes = await Promise.all(Array.from({ length: 50 }, (_unused, n) => agent.submit('echo', { n })));
    const shell = await agent.submit('shell', { command: 'echo once' });
    const waiting = async (pool: string) => redis.zcard(`{q-${pool}}:calls-${pool}:prioritized`);
    await eventually(async () => (await waiting('read')) === 50 && (await waiting('shell')) === 1, 'the jobs to be added');
    await returnToOldQueues();
    expect(await redis.exists('{q-read}:calls:prioritized', '{q-shell}:calls:prioritized')).toBe(2);

    if (first === 'gateway') await toolyard.gateway();
    const worker = await toolyard.worker();
    const ids = [...echoes, shell].map(({ body }) => body.id);
    for (const id of ids) expect(await agent.ended(id)).toMatchObject({ outcome: 'completed', attempt: 1 });
    expect(await redis.keys('{q-*}:calls:*')).toEqual([]);
    worker.signal('SIGTERM');
    await worker.ended();
  });

  it('shows five queues with their workers to tools for BullMQ', async () => {
    const worker = await toolyard.worker({ WORKER_ID: 'worker-one' });
    const queues = POOLS.map(
      (pool) => new Queue(keys.queueName(pool), { prefix: keys.queuePrefix(pool), connection: { url: toolyard.redis.url } }),
    );
    expect(new Set(queues.map(({ name }) => name)).size).toBe(5);
    for (const queue of queues) {
      expect(await queue.getJobCounts()).toMatchObject({ active: 0, failed: 0, prioritized: 0 });
      const [shown, ...others] = await eventually(async () => {
        const workers = await queue.getWorkers();
        return workers.length > 0 ? workers : undefined;
      }, `a worker of ${queue.name}`);
      expect([shown?.['name'], shown?.['rawname'], others]).toEqual([queue.name, expect.stringMatching(/:w:worker-one$/), []]);
      await queue.close();
    }
    worker.signal('SIGTERM');
    await worker.ended();
  });
});
