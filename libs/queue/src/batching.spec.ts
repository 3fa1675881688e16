import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRedis, type RedisConnection } from '#redis';
import { connected } from '../../../test/support/connected.js';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { startConsumer } from './call-consumer.js';
import { BullCallQueue } from './call-queue.js';
import type { CallConsumer } from './queue.port.js';

const PREFIX = '{q-net}:calls-net:';

describe('the batching backend', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let queue: BullCallQueue;
  let consumers: CallConsumer[];
  let ran: Set<string>;

  const idOf = (n: number) => `00-${String(n).padStart(26, '0')}`;
  const consume = (slots: number, handler: (callId: string) => Promise<void>, lockMs?: number) => {
    const options = lockMs === undefined ? {} : { lockMs };
    const consumer = startConsumer({ redisUrl: server.url, ...options, onError: () => {} })('net', slots, async ({ callId }) => {
      await handler(callId);
      ran.add(callId);
    });
    consumers.push(consumer);
    return consumer;
  };
  const dispatchSurely = (n: number) =>
    eventually(
      () =>
        queue.dispatch('net', { callId: idOf(n), attempt: 1 }, 'normal').then(
          () => true,
          () => false,
        ),
      `job ${n} to be dispatched`,
    );

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    redis = createRedis(server.url);
    queue = await connected(new BullCallQueue({ redisUrl: server.url }), 'net');
    consumers = [];
    ran = new Set();
  });
  afterEach(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()));
    await queue.close();
    await redis.flushall();
    redis.disconnect();
  });

  it('strands no job when connections break: fetched but undelivered jobs return at once', async () => {
    for (const slots of [3, 20]) consume(slots, () => new Promise(setImmediate));
    for (let n = 0; n < 3000; n += 100) {
      await Promise.all(Array.from({ length: 100 }, (_unused, i) => dispatchSurely(n + i)));
      if (n % 300 === 0) await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }
    // A stranded job would wait for its lock to expire, which takes 30 s.
    await eventually(() => ran.size === 3000, 'all jobs to run');
    await eventually(
      async () => (await redis.exists(`${PREFIX}active`, `${PREFIX}wait`, `${PREFIX}prioritized`)) === 0,
      'the queue to be empty',
    );
  });

  it('leaves only the marker, the counter and BullMQ’s own notes in Redis', async () => {
    consume(10, async () => {});
    await Promise.all(Array.from({ length: 200 }, (_unused, n) => dispatchSurely(n)));
    await eventually(() => ran.size === 200, 'all jobs to run');
    await eventually(async () => (await redis.keys(`${PREFIX}0*`)).length === 0, 'all jobs and locks to be gone');
    const left = (await redis.keys('*')).map((key) => key.slice(PREFIX.length));
    expect(left.filter((key) => !['marker', 'pc', 'meta', 'stalled', 'stalled-check', 'events'].includes(key))).toEqual([]);
  });

  it('ends no job that another worker has taken over', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    consume(1, () => gate);
    await dispatchSurely(1);
    const key = `${PREFIX}${idOf(1)}-1`;
    await eventually(() => redis.exists(`${key}:lock`), 'the job to be locked');
    await redis.set(`${key}:lock`, 'of another worker');
    await dispatchSurely(2);
    release();
    await eventually(() => ran.has(idOf(2)), 'the worker to be done with both');
    await eventually(async () => (await redis.exists(`${PREFIX}${idOf(2)}-1`)) === 0, 'the job after it to be ended');
    expect(await redis.exists(key, `${key}:lock`)).toBe(2);
  });

  it('gives the job of a silent worker to another one soon after its lock expired', async () => {
    const held: string[] = [];
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const hold = (callId: string) => {
      held.push(callId);
      return gate;
    };
    consume(1, hold, 1_000);
    await dispatchSurely(1);
    await eventually(() => held.length === 1, 'the job to be held');
    await dispatchSurely(2);
    await redis.del(`${PREFIX}${idOf(1)}-1:lock`);
    consume(1, hold, 1_000);
    await eventually(() => held.length === 2, 'the next job to be held');
    // The second worker runs the first job that it finds: the other job is requeued later, or is the one it runs.
    consume(1, hold, 1_000);
    await eventually(() => held.length === 3, 'the job to be given back');
    expect(held.slice(1).sort()).toEqual([idOf(1), idOf(2)]);
    release();
    await eventually(async () => (await redis.exists(`${PREFIX}active`, `${PREFIX}wait`)) === 0, 'all jobs to be gone');
  });

  it('drops a job that was found stalled too often without running it, so that its id is free again', async () => {
    await dispatchSurely(1);
    await redis.hset(`${PREFIX}${idOf(1)}-1`, 'defa', 'job stalled more than allowable limit');
    consume(1, async () => {});
    await eventually(async () => (await redis.exists(`${PREFIX}${idOf(1)}-1`)) === 0, 'the job to be dropped');
    expect(ran.size).toBe(0);
    await dispatchSurely(1);
    await eventually(() => ran.has(idOf(1)), 'the job to run when it is added again');
  });

  it('fetches no job while the queue is paused, and wakes up when it resumes', async () => {
    await redis.hset(`${PREFIX}meta`, 'paused', '1');
    consume(1, async () => {});
    await dispatchSurely(1);
    await eventually(async () => (await redis.exists(`${PREFIX}marker`)) === 0, 'the worker to have looked');
    expect(ran.size).toBe(0);
    await redis.hdel(`${PREFIX}meta`, 'paused');
    await dispatchSurely(2);
    await eventually(() => ran.size === 2, 'both jobs to run');
  });

  it('refuses jobs that the batching backend would never run', async () => {
    const { Queue } = await import('bullmq');
    const { producerBackend } = await import('./bull-connection.js');
    const delayed = new Queue('calls-net', { connection: {} }, producerBackend(redis, 'batching', '{q-net}'));
    await expect(delayed.add('call', {}, { jobId: 'a-1', priority: 1, delay: 1000 })).rejects.toThrow(/without delay/);
    await delayed.close();
  });
});
