import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Priority } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { startClusterOfOne } from '../../../test/support/cluster-redis.js';
import { connected } from '../../../test/support/connected.js';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import type { QueueBackend } from './bull-settings.js';
import { startConsumer } from './call-consumer.js';
import { BullCallQueue } from './call-queue.js';
import type { DequeueHookResult } from './dequeue-hook.js';
import type { CallConsumer } from './queue.port.js';

/** The table "What differs between the backends" of the README. */
const COLUMNS = [
  { column: 'batching', cluster: false, fairShare: true, aging: true, claimsOnDequeue: true, dispatchesDirectly: true, requeues: true },
  {
    column: 'batching on a cluster',
    cluster: true,
    fairShare: true,
    aging: true,
    claimsOnDequeue: false,
    dispatchesDirectly: false,
    requeues: true,
  },
  { column: 'stock', cluster: false, fairShare: false, aging: false, claimsOnDequeue: false, dispatchesDirectly: false, requeues: false },
];
const HOOK = { lua: `local function onDequeue(jobs, args) return { 'for all', 'own' } end`, args: [] };

describe.each(COLUMNS)('the backend "$column"', ({ column, cluster, ...is }) => {
  const backend: QueueBackend = column === 'stock' ? 'stock' : 'batching';
  let server: RedisServer;
  let url: string;
  let redis: RedisConnection;
  let shared: RedisConnection;
  let queue: BullCallQueue;
  let consumer: CallConsumer | undefined;
  let ran: Map<string, DequeueHookResult | undefined>;
  let made = 0;

  const send = async (tenant: string, priority: Priority = 'normal') => {
    const callId = `00-${String(made++).padStart(26, '0')}`;
    await queue.dispatch('net', { callId, attempt: 1 }, priority, tenant, 'pure');
    return callId;
  };
  const consume = (slots = 1) => {
    const start = startConsumer({ redisUrl: url, backend, lockMs: 1_000, connection: shared, dequeueHook: HOOK, onError: () => {} });
    consumer = start('net', slots, async ({ callId }, taken) => void ran.set(callId, taken));
  };
  const haveRun = (count: number) => eventually(() => ran.size >= count, `${count} jobs to run`);
  const queueKey = (type: string) => `{q-net}:calls-net:${type}`;

  beforeAll(async () => {
    if (cluster) {
      ({ server, url } = await startClusterOfOne());
    } else {
      server = await startRedisServer();
      url = server.url;
    }
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    redis = createRedis(server.url);
    shared = createRedis(url);
    queue = await connected(new BullCallQueue({ redisUrl: url, backend, producerConnection: shared, dequeueHook: HOOK }));
    ran = new Map();
  });
  afterEach(async () => {
    await consumer?.close();
    consumer = undefined;
    await queue.close();
    await redis.flushall();
    for (const connection of [redis, shared]) connection.disconnect();
  });

  it(is.fairShare ? 'lets tenants take turns' : 'runs jobs in the order of adding', async () => {
    const big = [await send('big'), await send('big'), await send('big')];
    const small = await send('small');
    consume();
    await haveRun(4);
    expect([...ran.keys()].indexOf(small)).toBe(is.fairShare ? 1 : 3);
    expect([...ran.keys()].filter((id) => id !== small)).toEqual(big);
  });

  it(is.aging ? 'runs a normal job before the last of many high ones' : 'runs all jobs of a higher priority first', async () => {
    const normal = await send('acme');
    for (let n = 0; n < 20; n++) await send('acme', 'high');
    consume();
    await haveRun(21);
    expect([...ran.keys()].indexOf(normal)).toBe(is.aging ? 8 : 20);
  });

  it(`${is.claimsOnDequeue ? 'runs' : 'leaves out'} the dequeue hook`, async () => {
    await send('acme');
    consume();
    await haveRun(1);
    expect([...ran.values()]).toEqual([is.claimsOnDequeue ? { kind: 'answered', shared: 'for all', own: 'own' } : undefined]);
  });

  it(is.dispatchesDirectly ? 'dispatches jobs to idle workers directly' : 'wakes idle workers by the marker', async () => {
    consume();
    await send('acme');
    await haveRun(1);
    const registrations = () => redis.keys(queueKey('idle:*'));
    if (is.dispatchesDirectly) await eventually(async () => (await registrations()).length > 0, 'the worker to register as idle');
    await send('acme');
    await haveRun(2);
    if (!is.dispatchesDirectly) expect(await registrations()).toEqual([]);
  });

  it(is.requeues ? 'runs a job of a dead worker again' : 'removes a job of a dead worker', async () => {
    const callId = await send('acme');
    const [jobId = ''] = await redis.zpopmin(queueKey('prioritized'));
    await redis.lpush(queueKey('active'), jobId);
    consume();
    await eventually(async () => (await redis.exists(queueKey(jobId))) === 0, 'the job to be gone');
    expect([...ran.keys()]).toEqual(is.requeues ? [callId] : []);
  });
});
