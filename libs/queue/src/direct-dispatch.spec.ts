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
/** Counts the dequeues of each call, and answers with the attempt. */
const COUNTING = `
  local function onDequeue(jobs, args)
    local answers = { 'for all' }
    for i = 1, #jobs, 2 do
      redis.call('HINCRBY', 'taken', jobs[i], 1)
      answers[#answers + 1] = args[1] .. ' ' .. jobs[i + 1]
    end
    return answers
  end`;
const counting: DequeueHook = { lua: COUNTING, args: ['attempt'] };

/** Time to detect a lost message: the renewal of its job's lock, later on a busy machine. */
const LOST_MS = 150_000;

describe('jobs that are handed over to idle workers', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let watcher: RedisConnection;
  let adding: RedisConnection;
  let taking: RedisConnection;
  let queue: BullCallQueue;
  let consumers: CallConsumer[];
  let handled: Map<string, DequeueHookResult | undefined>;
  let twice: string[];
  /** Messages with directly dispatched jobs. */
  let messages: { readonly channel: string; readonly text: string }[];

  const idOf = (n: number) => `00-${String(n).padStart(26, '0')}`;
  const consume = (slots: number, work: (callId: string) => Promise<void> = async () => {}) => {
    let running = 0;
    const options = { redisUrl: server.url, connection: taking, dequeueHook: counting, onError: () => {} };
    const consumer = startConsumer(options)('net', slots, async ({ callId }, taken) => {
      if (handled.has(callId)) twice.push(callId);
      handled.set(callId, taken);
      if (++running > slots) throw new Error(`${running} jobs run in ${slots} slots`);
      await work(callId);
      running -= 1;
    });
    consumers.push(consumer);
    return consumer;
  };
  const dispatch = (n: number) => queue.dispatch('net', { callId: idOf(n), attempt: 1 }, 'normal', 'a-tenant', 'pure');
  const dispatchSurely = (n: number) =>
    eventually(
      () =>
        dispatch(n).then(
          () => true,
          () => false,
        ),
      `job ${n} to be dispatched`,
    );
  /** Dispatches through a queue without direct dispatch. */
  const dispatchPlainly = async (...numbers: number[]) => {
    const plain = await connected(new BullCallQueue({ redisUrl: server.url }));
    await Promise.all(numbers.map((n) => plain.dispatch('net', { callId: idOf(n), attempt: 1 }, 'normal')));
    await plain.close();
  };
  const idleKey = async () => (await redis.keys(`${PREFIX}idle:*`))[0] ?? '';
  /** Registrations of all idle workers: lock token and text. */
  const notes = async () => Object.entries(await redis.hgetall(await idleKey()));
  const noted = (count: number) => eventually(async () => (await notes()).length === count, `${count} workers to be idle`);
  /** Dequeues for a worker like direct-dispatch.lua, without its message. */
  const takeInSecret = async (n: number, token: string) => {
    const [id, data] = [`${idOf(n)}-1`, JSON.stringify({ callId: idOf(n), attempt: 1 })];
    const idle = await idleKey();
    await redis
      .multi()
      .hset(`${PREFIX}${id}`, { data, timestamp: '1' })
      .set(`${PREFIX}${id}:lock`, token)
      .lpush(`${PREFIX}active`, id)
      .hdel(idle, token)
      .exec();
    return { id, data };
  };
  const queueIsEmpty = () =>
    eventually(async () => (await redis.exists(`${PREFIX}active`, `${PREFIX}wait`, `${PREFIX}prioritized`)) === 0, 'the queue to be empty');

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    [redis, watcher, adding, taking] = [createRedis(server.url), createRedis(server.url), createRedis(server.url), createRedis(server.url)];
    queue = await connected(new BullCallQueue({ redisUrl: server.url, producerConnection: adding, dequeueHook: counting }));
    consumers = [];
    handled = new Map();
    twice = [];
    messages = [];
    watcher.on('pmessage', (_pattern: string, channel: string, text: string) => messages.push({ channel, text }));
    await watcher.psubscribe('*:hand:*');
  });
  afterEach(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()));
    await queue.close();
    await redis.flushall();
    for (const connection of [redis, watcher, adding, taking]) connection.disconnect();
  });

  it('hands jobs to idle workers in the script that adds them, with the answers about their calls', async () => {
    consume(3);
    await noted(1);
    await dispatch(1);
    await eventually(() => handled.size === 1, 'the job to be handled');
    await queueIsEmpty();
    // The script that completed the job made the next registration.
    expect(await notes()).toHaveLength(1);
    await Promise.all([2, 3, 4].map(dispatch));
    await eventually(() => handled.size === 4, 'all jobs to be handled');
    expect([...handled.values()]).toEqual(Array.from({ length: 4 }, () => ({ kind: 'answered', shared: 'for all', own: 'attempt 1' })));
    expect(messages).toHaveLength(2);
    await queueIsEmpty();
  });

  it('hands over no more jobs than slots are free; the others wait for the next who asks', async () => {
    const release: (() => void)[] = [];
    consume(2, () => new Promise((resolve) => release.push(resolve)));
    await noted(1);
    await Promise.all([1, 2, 3, 4, 5].map(dispatch));
    await eventually(() => handled.size === 2, 'two jobs to be handled');
    expect(messages).toHaveLength(1);
    expect(await redis.zcard(`${PREFIX}prioritized`)).toBe(3);
    for (let done = 0; done < 5; done++) {
      await eventually(() => release.length > 0, 'a job to run');
      release.shift()?.();
    }
    await queueIsEmpty();
    expect(handled.size).toBe(5);
  });

  it('hands over no job for slots that were filled by the script that left the note', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    consume(3, () => gate);
    await noted(1);
    await dispatchPlainly(1, 2);
    await eventually(() => handled.size === 2, 'two jobs to be handled');
    await noted(1);
    expect(messages).toEqual([]);
    await Promise.all([3, 4, 5].map(dispatch));
    await eventually(() => handled.size === 3, 'all slots to be filled');
    expect(await redis.hlen('taken')).toBe(3);
    release();
    await eventually(() => handled.size === 5, 'all jobs to be handled');
  });

  it('hands jobs to as many idle workers as there are jobs', async () => {
    const ran = [0, 0, 0];
    for (const index of ran.keys()) consume(2, async () => void (ran[index] = (ran[index] ?? 0) + 1));
    await noted(3);
    await Promise.all(Array.from({ length: 6 }, (_unused, n) => dispatch(n)));
    await eventually(() => handled.size === 6, 'all jobs to be handled');
    expect(ran).toEqual([2, 2, 2]);
  });

  it('handles handed over jobs once and never too many at a time, though connections break and messages get lost', async () => {
    for (const slots of [1, 3, 20]) consume(slots, () => new Promise(setImmediate));
    for (let n = 0; n < 3000; n += 10) {
      await Promise.all(Array.from({ length: 10 }, (_unused, i) => dispatchSurely(n + i)));
      if (n % 300 === 0) await redis.call('CLIENT', 'KILL', 'TYPE', n % 600 === 0 ? 'pubsub' : 'normal', 'SKIPME', 'yes');
    }
    await eventually(() => handled.size === 3000, 'all jobs to be handled');
    await queueIsEmpty();
    expect(twice).toEqual([]);
    expect(new Set(await redis.hvals('taken'))).toEqual(new Set(['1']));
  });

  it('handles all jobs that were handed over to a consumer that closes', async () => {
    for (let round = 0; round < 60; round++) {
      const consumer = consume(30);
      await noted(1);
      const dispatched = Promise.all(Array.from({ length: 40 }, (_unused, n) => dispatch(100 * round + n)));
      for (let turn = 0; turn < round; turn++) await new Promise(setImmediate);
      await consumer.close();
      await dispatched;
      expect(await redis.hlen('taken')).toBe(handled.size);
      await redis.del('taken', `${PREFIX}prioritized`, await idleKey());
      handled.clear();
    }
    expect(twice).toEqual([]);
  });

  it('leaves jobs in the queue if they must not run again, and while such jobs wait', async () => {
    const stop = consume(1);
    await noted(1);
    const [[token, note]] = (await notes()) as [[string, string]];
    const key = await idleKey();
    await stop.close();
    await watcher.subscribe(`${PREFIX}hand:${token}`);
    await redis.hset(key, token, note.replace(/^\d+ \d+/, `${Date.now() + 60_000} 9`));
    await Promise.all([dispatch(1), queue.dispatch('net', { callId: idOf(2), attempt: 1 }, 'normal', 'a-tenant', 'once')]);
    await dispatch(3);
    expect(messages).toEqual([]);
    expect(await redis.zcard(`${PREFIX}prioritized`)).toBe(3);
    expect(await redis.exists(`${PREFIX}marker`)).toBe(1);
    await redis.del(`${PREFIX}prioritized`);
    await dispatch(4);
    await eventually(() => messages.length > 0, 'a job to be handed over');
  });

  it('leaves jobs in the queue if the noted worker no longer listens, or has been silent for long', async () => {
    consume(1);
    await noted(1);
    const [[token, note]] = (await notes()) as [[string, string]];
    const key = await idleKey();
    await consumers[0]?.close();
    const soon = String(Date.now() + 60_000);
    await redis.hset(key, 'of the dead', note.replace(/^\d+/, soon));
    await dispatch(1);
    expect(await redis.zcard(`${PREFIX}prioritized`)).toBe(1);
    await redis.hset(key, token, note.replace(/^\d+/, '1'));
    await watcher.subscribe(`${PREFIX}hand:${token}`);
    await redis.del(`${PREFIX}prioritized`);
    await dispatch(2);
    expect(messages).toEqual([]);
    expect(await redis.zcard(`${PREFIX}prioritized`)).toBe(1);
    expect(await redis.exists(`${PREFIX}marker`)).toBe(1);
    expect(await notes()).toEqual([]);
    // The second registration was unused only because of its age.
    await redis.hset(key, token, note.replace(/^\d+ \d+/, `${soon} 5`));
    await redis.del(`${PREFIX}marker`, `${PREFIX}prioritized`);
    await dispatch(3);
    await eventually(() => messages.length > 0, 'a job to be handed over');
    expect(await redis.llen(`${PREFIX}active`)).toBe(1);
    expect(await redis.exists(`${PREFIX}marker`)).toBe(0);
  });

  it('hands over no job while the queue is paused', async () => {
    consume(1);
    await noted(1);
    await redis.hset(`${PREFIX}meta`, 'paused', '1');
    await dispatch(1);
    expect(messages).toEqual([]);
    expect(await notes()).toHaveLength(1);
    await redis.hdel(`${PREFIX}meta`, 'paused');
    await dispatch(2);
    await eventually(() => handled.size === 2, 'both jobs to be handled');
  });

  it('leaves the marker to other workers if its worker has no free slot', async () => {
    let release = () => {};
    consume(1, () => new Promise((resolve) => (release = resolve)));
    await noted(1);
    await dispatch(1);
    await eventually(() => handled.size === 1, 'the job to be handled');
    await dispatch(2);
    // The pending read of the worker pops the marker although its loop does not wait.
    const blocked = () => redis.call('CLIENT', 'LIST').then((list) => /flags=b .*cmd=bzpopmin/.test(String(list)));
    await eventually(async () => !(await blocked()) && (await redis.exists(`${PREFIX}marker`)) === 1, 'the marker to be put back');
    release();
    await eventually(() => handled.size === 2, 'the next job to be handled');
    release();
  });

  it(
    'finds handed-over jobs whose message was lost, and fetches nothing for their slots until then',
    async () => {
      let release = () => {};
      consume(1, () => new Promise((resolve) => (release = resolve)));
      await noted(1);
      const [[token]] = (await notes()) as [[string, string]];
      await takeInSecret(1, token);
      await dispatchPlainly(2);
      await eventually(() => handled.size === 1, 'the job to be found', LOST_MS);
      expect(handled.get(idOf(1))).toEqual({ kind: 'lost' });
      expect(await redis.hlen('taken')).toBe(0);
      release();
      await eventually(() => handled.size === 2, 'the next job to be handled');
      release();
      await queueIsEmpty();
    },
    2 * LOST_MS,
  );

  it('hands over jobs for the present number of slots', async () => {
    const consumer = consume(3);
    await noted(1);
    consumer.setConcurrency(1);
    await eventually(async () => (await notes())[0]?.[1].split(' ')[1] === '1', 'a note for one slot');
  });

  it('runs a job once that was found under the worker’s lock before its message arrived', async () => {
    consume(2);
    await noted(1);
    const [[token, note]] = (await notes()) as [[string, string]];
    const { id, data } = await takeInSecret(1, token);
    taking.disconnect(true);
    await eventually(() => handled.size === 1, 'the job to be found');
    expect(handled.get(idOf(1))).toEqual({ kind: 'lost' });
    await queueIsEmpty();
    const late = JSON.stringify([Number(note.split(' ')[2]), [1, id, data, '1', false], ['for all', 'too late']]);
    await redis.publish(`${PREFIX}hand:${token}`, late);
    await dispatch(2);
    await eventually(() => handled.size === 2, 'another job to be handled');
    expect(twice).toEqual([]);
  });
});
