import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRedis, type RedisConnection } from '#redis';
import { connected } from '../../../test/support/connected.js';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { startConsumer } from './call-consumer.js';
import { BullCallQueue } from './call-queue.js';
import type { DequeueHook, DequeueHookResult } from './dequeue-hook.js';
import type { CallConsumer } from './queue.port.js';

const PREFIX = '{q-net}:calls-net:';
/** Counts the dequeues of each call, and answers with its arguments. */
const COUNTING = `
  local function onDequeue(jobs, args)
    local answers = { 'for all' }
    for i = 1, #jobs, 2 do
      answers[#answers + 1] = args[1] .. ' ' .. jobs[i] .. ' ' .. jobs[i + 1] .. ' ' .. redis.call('HINCRBY', args[2], jobs[i], 1)
    end
    return answers
  end`;

describe('a script that runs when jobs are taken', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let shared: RedisConnection;
  let queue: BullCallQueue;
  let consumers: CallConsumer[];
  let handled: Map<string, DequeueHookResult | undefined>;
  let twice: string[];

  const idOf = (n: number) => `00-${String(n).padStart(26, '0')}`;
  const consume = (slots: number, script: DequeueHook, work: () => Promise<void> = async () => {}) => {
    const start = startConsumer({ redisUrl: server.url, connection: shared, dequeueHook: script, onError: () => {} });
    const consumer = start('net', slots, async ({ callId }, taken) => {
      if (handled.has(callId)) twice.push(callId);
      handled.set(callId, taken);
      await work();
    });
    consumers.push(consumer);
    return consumer;
  };
  const counting = { lua: COUNTING, args: ['hello', 'taken'] };
  const dispatch = (n: number) =>
    eventually(
      () =>
        queue.dispatch('net', { callId: idOf(n), attempt: 1 }, 'normal').then(
          () => true,
          () => false,
        ),
      `job ${n} to be dispatched`,
    );
  const queueIsEmpty = () =>
    eventually(async () => (await redis.exists(`${PREFIX}active`, `${PREFIX}wait`, `${PREFIX}prioritized`)) === 0, 'the queue to be empty');

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    [redis, shared] = [createRedis(server.url), createRedis(server.url)];
    queue = await connected(new BullCallQueue({ redisUrl: server.url }));
    consumers = [];
    handled = new Map();
    twice = [];
  });
  afterEach(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()));
    await queue.close();
    shared.disconnect();
    await redis.flushall();
    redis.disconnect();
  });

  it('passes the answer of the dequeue script to each handler', async () => {
    consume(5, counting);
    await Promise.all(Array.from({ length: 40 }, (_unused, n) => dispatch(n)));
    await eventually(() => handled.size === 40, 'all jobs to be handled');
    for (const [callId, taken] of handled) expect(taken).toEqual({ kind: 'answered', shared: 'for all', own: `hello ${callId} 1 1` });
    await queueIsEmpty();
  });

  it('runs a dequeue script once for each job, and handles each once, though connections break and answers get lost', async () => {
    for (const slots of [3, 20]) consume(slots, counting, () => new Promise(setImmediate));
    for (let n = 0; n < 3000; n += 100) {
      await Promise.all(Array.from({ length: 100 }, (_unused, i) => dispatch(n + i)));
      if (n % 300 === 0) await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }
    await eventually(() => handled.size === 3000, 'all jobs to be handled');
    await queueIsEmpty();
    expect(twice).toEqual([]);
    expect(new Set(await redis.hvals('taken'))).toEqual(new Set(['1']));
  });

  it('reports a lost answer when the dequeue script failed, since it may have run', async () => {
    consume(2, { lua: "local function onDequeue() error('no') end", args: [] });
    await dispatch(1);
    await eventually(() => handled.size === 1, 'the job to be handled');
    expect([...handled.values()]).toEqual([{ kind: 'lost' }]);
    await queueIsEmpty();
  });

  it('returns fetched jobs without a handler when the consumer closes', async () => {
    // Closes a few turns of the event loop after the start, while many jobs are under way to loops that no longer poll.
    for (let round = 0; round < 100; round++) {
      await Promise.all(Array.from({ length: 50 }, (_unused, n) => dispatch(100 * round + n)));
      const consumer = consume(30, counting);
      for (let turn = 0; turn < round; turn++) await new Promise(setImmediate);
      await consumer.close();
      expect(await redis.hlen('taken')).toBe(handled.size);
      await redis.del('taken', `${PREFIX}prioritized`);
      handled.clear();
    }
    expect(twice).toEqual([]);
  });

  it('leaves a job alone that failed while it waited', async () => {
    await dispatch(1);
    await redis.hset(`${PREFIX}${idOf(1)}-1`, 'defa', 'job stalled more than allowable limit');
    await dispatch(2);
    consume(2, counting);
    await eventually(() => handled.size === 1, 'the other job to be handled');
    expect(handled.get(idOf(2))).toMatchObject({ own: `hello ${idOf(2)} 1 1` });
    await queueIsEmpty();
    expect(await redis.hkeys('taken')).toEqual([idOf(2)]);
  });
});
