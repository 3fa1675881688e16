import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Queue, Worker } from 'bullmq';
import { POOLS } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { connected } from '../../../test/support/connected.js';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { JOB_OPTIONS } from './bull-settings.js';
import { startConsumer } from './call-consumer.js';
import { BullCallQueue } from './call-queue.js';
import { LegacyQueues } from './legacy-queues.js';

describe('queues of a release in which all queues have the name "calls"', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let legacy: Queue;
  let queue: BullCallQueue;

  const job = (n: number) => ({ callId: `00-${String(n).padStart(26, '0')}`, attempt: 1 });
  const idOf = (n: number) => `${job(n).callId}-1`;
  const addLegacy = (n: number, priority = 2) => legacy.add('call', job(n), { ...JOB_OPTIONS, jobId: idOf(n), priority });
  const legacyKeys = () => redis.keys('{q-*}:calls:*');
  /** The ids of the calls that a worker of today gets, in its order. */
  const runAll = async (count: number) => {
    const ran: string[] = [];
    const consumer = startConsumer({ redisUrl: server.url })('net', 1, async ({ callId }) => void ran.push(callId));
    await eventually(() => ran.length >= count, `${count} jobs to run`);
    await eventually(async () => (await queue.stats('net')).active === 0, 'the queue to be empty');
    await consumer.close();
    return ran;
  };

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    redis = createRedis(server.url);
    legacy = new Queue('calls', { prefix: '{q-net}', connection: { url: server.url } });
    queue = await connected(new BullCallQueue({ redisUrl: server.url }));
  });
  afterEach(async () => {
    await Promise.all([legacy.close(), queue.close()]);
    await redis.flushall();
    redis.disconnect();
  });

  it('empties queues of the older release into those of today, each job once and in its order', async () => {
    for (const n of [1, 2, 3]) await addLegacy(n);
    await addLegacy(0, 1);
    // Added again by the reconciler of a newer release meanwhile.
    await queue.dispatch('net', job(2), 'normal');
    expect(await new LegacyQueues(redis).drain()).toBe(3);
    expect(await legacyKeys()).toEqual([]);
    expect(await new LegacyQueues(redis).drain()).toBe(0);
    const ran = await runAll(4);
    expect([...ran].sort()).toEqual([0, 1, 2, 3].map((n) => job(n).callId));
    expect(ran[0]).toBe(job(0).callId);
  });

  it('loses no job of older queues however many they have, and leaves none behind', async () => {
    const count = 2_345;
    await legacy.addBulk(
      Array.from({ length: count }, (_unused, n) => ({
        name: 'call',
        data: job(n),
        opts: { ...JOB_OPTIONS, jobId: idOf(n), priority: 1 + (n % 3) },
      })),
    );
    // Two processes start at the same time.
    const moved = await Promise.all([new LegacyQueues(redis).drain(), new LegacyQueues(redis).drain()]);
    expect(moved.reduce((sum, jobs) => sum + jobs)).toBe(count);
    expect(await legacyKeys()).toEqual([]);
    expect(await queue.stats('net')).toMatchObject({ waiting: count });
    expect(new Set(await runAll(count)).size).toBe(count);
  });

  it('gives up jobs of older queues that a worker of that release has, which then ends without harm', async () => {
    let finish = () => {};
    const working = new Promise<void>((resolve) => (finish = resolve));
    const worker = new Worker('calls', () => working, { prefix: '{q-net}', connection: { url: server.url } });
    worker.on('error', () => {});
    await addLegacy(1);
    await eventually(async () => (await legacy.getActiveCount()) === 1, 'the worker to take the job');
    expect(await new LegacyQueues(redis).drain()).toBe(1);
    finish();
    await worker.close();
    expect(await runAll(1)).toEqual([job(1).callId]);
    expect(await legacyKeys()).toEqual([]);
  });

  it('keeps the pause and the rate limit of older queues', async () => {
    await legacy.pause();
    await legacy.setGlobalConcurrency(3);
    await addLegacy(1);
    await new LegacyQueues(redis).drain();
    const today = new Queue(keys.queueName('net'), { prefix: keys.queuePrefix('net'), connection: { url: server.url } });
    expect([await today.isPaused(), await today.getGlobalConcurrency()]).toEqual([true, 3]);
    await today.close();
  });

  it('empties older queues in all pools', async () => {
    for (const pool of POOLS) {
      const old = new Queue('calls', { prefix: keys.queuePrefix(pool), connection: { url: server.url } });
      await old.add('call', job(1), { ...JOB_OPTIONS, jobId: idOf(1), priority: 2 });
      await old.close();
    }
    expect(await new LegacyQueues(redis).drain()).toBe(POOLS.length);
    for (const pool of POOLS) expect(await queue.waitingCount(pool)).toBe(1);
  });
});
