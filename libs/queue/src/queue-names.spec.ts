import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import fc from 'fast-check';
import { POOLS } from '#contracts';
import { keys } from '#redis';
import { connected } from '../../../test/support/connected.js';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { queueName, type QueueBackend } from './bull-settings.js';
import { startConsumer } from './call-consumer.js';
import { BullCallQueue } from './call-queue.js';
import type { CallConsumer } from './queue.port.js';
import { anyText } from '../../../test/support/any-text.js';

/** Pools, and further queues. */
const NAMES = [...POOLS, 'w-default.python_3'];

describe.each<QueueBackend>(['batching', 'stock'])('queues of the %s backend, as tools for BullMQ see them', (backend) => {
  let server: RedisServer;
  let queues: Queue[];
  let consumers: CallConsumer[];

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    queues = NAMES.map((pool) => {
      const { name, prefix } = queueName(pool);
      return new Queue(name, { prefix, connection: { url: server.url } });
    });
    consumers = [];
  });
  afterEach(async () => {
    await Promise.all([...consumers, ...queues].map((opened) => opened.close()));
  });

  it('names each queue, its jobs and its workers apart for tools for BullMQ', async () => {
    const producer = await connected(new BullCallQueue({ redisUrl: server.url, backend }));
    for (const [index, pool] of NAMES.entries())
      for (let n = 0; n <= index; n++) await producer.dispatch(pool, { callId: `00-${String(n).padStart(26, '0')}`, attempt: 1 }, 'normal');
    const counts = Object.fromEntries(await Promise.all(queues.map(async (queue) => [queue.name, await queue.getJobCounts()] as const)));
    expect(Object.keys(counts)).toEqual(NAMES.map((pool) => `calls-${pool}`));
    expect(Object.values(counts).map(({ prioritized }) => prioritized)).toEqual(NAMES.map((_name, index) => index + 1));
    await producer.close();

    consumers = NAMES.map((pool) => startConsumer({ redisUrl: server.url, workerName: 'host 1:7412', backend })(pool, 1, async () => {}));
    const workers = () => Promise.all(queues.map((queue) => queue.getWorkers()));
    const found = await eventually(async () => {
      const lists = await workers();
      return lists.every(({ length }) => length === 1) ? lists.flat() : undefined;
    }, 'each queue to have one worker');
    expect(found.map(({ name }) => name)).toEqual(NAMES.map((pool) => `calls-${pool}`));
    for (const worker of found) expect(worker['rawname']).toMatch(/:w:host-1:7412$/);
  });
});

describe('the name of a queue', () => {
  it('keeps the hash tag of a queue prefix, and refuses one that changes it', () => {
    const word = fc.oneof(anyText(), fc.stringMatching(/^[A-Za-z0-9._{}:-]{0,130}$/));
    fc.assert(
      fc.property(word, (pool) => {
        if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(pool)) {
          expect(() => queueName(pool)).toThrow('cannot name a queue');
          return;
        }
        const { name, prefix } = queueName(pool);
        expect(/\{([^}]*)\}/.exec(`${prefix}:${name}:wait`)?.[1]).toBe(`q-${pool}`);
      }),
    );
    expect(keys.queuePrefix('read')).toBe('{q-read}');
  });
});
