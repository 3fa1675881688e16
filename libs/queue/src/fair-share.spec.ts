import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CallJob, Priority } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { connected } from '../../../test/support/connected.js';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { startConsumer } from './call-consumer.js';
import { BullCallQueue } from './call-queue.js';
import type { CallConsumer } from './queue.port.js';

/** Most skips of a waiting priority; one more if two priorities reach their limit at once. */
const MOST_PASSES = { high: 0, normal: 9, low: 33 } as const;

interface Sent {
  readonly tenant: string;
  readonly priority: Priority;
}

describe('fair share of a pool', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let queue: BullCallQueue;
  let consumer: CallConsumer | undefined;
  let order: string[];
  let made = 0;

  const newJob = (): CallJob => ({ callId: `${String(made % 100).padStart(2, '0')}-${String(made++).padStart(26, '0')}`, attempt: 1 });
  const send = async (sent: readonly Sent[]): Promise<string[]> => {
    const jobs = sent.map((one) => ({ ...one, job: newJob() }));
    await Promise.all(jobs.map(({ job, priority, tenant }) => queue.dispatch('shell', job, priority, tenant)));
    return jobs.map(({ job }) => job.callId);
  };
  const many = (count: number, tenant: string, priority: Priority = 'normal') =>
    Array.from({ length: count }, () => ({ tenant, priority }));
  const consume = (slots: number, handler: (callId: string) => Promise<void> = async () => {}) => {
    consumer = startConsumer({ redisUrl: server.url })('shell', slots, async ({ callId }) => {
      order.push(callId);
      await handler(callId);
    });
  };
  const ran = (count: number) => eventually(() => order.length >= count, `${count} jobs to run`);

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    redis = createRedis(server.url);
    queue = await connected(new BullCallQueue({ redisUrl: server.url }));
    order = [];
  });
  afterEach(async () => {
    await consumer?.close();
    consumer = undefined;
    await queue.close();
    await redis.flushall();
    redis.disconnect();
  });

  it('serves a tenant’s only call within a second behind 10,000 of another tenant', async () => {
    for (let i = 0; i < 10; i++) await send(many(1000, 'greedy'));
    const [lone = ''] = await send(many(1, 'modest'));
    expect(await queue.position('shell', { callId: lone, attempt: 1 })).toEqual({ ahead: 1, waiting: 10_001, active: 0 });
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    consume(2, () => gate);
    await ran(2);
    release();
    expect(order).toContain(lone);
  });

  it('shares fairly with a tenant that arrives while another’s backlog is processed', async () => {
    await send(many(500, 'greedy'));
    let open: (() => void)[] = [];
    consume(4, () => new Promise<void>((resolve) => open.push(resolve)));
    for (let taken = 4; taken <= 200; taken += 4) {
      await ran(taken);
      for (const release of open.splice(0)) release();
    }
    await ran(204);
    const before = order.length;
    const [lone = ''] = await send(many(1, 'modest'));
    const running = open;
    open = [];
    for (const release of running) release();
    await ran(before + 4);
    for (const release of open) release();
    expect(order.indexOf(lone)).toBeGreaterThanOrEqual(before);
    expect(order.indexOf(lone)).toBeLessThanOrEqual(before + 1);
    await consumer?.close().catch(() => {});
  });

  it('delays a call of a lower class behind a bounded number of higher ones', async () => {
    await send(many(200, 'greedy', 'high'));
    const [low = ''] = await send(many(1, 'greedy', 'low'));
    const [normal = ''] = await send(many(1, 'greedy', 'normal'));
    consume(1);
    await ran(202);
    expect(order.indexOf(normal)).toBe(8);
    expect(order.indexOf(low)).toBe(32);
  });

  it('alternates tenants and keeps the order of each, for any submission and fetching', async () => {
    const tenant = fc.constantFrom('a', 'b', 'c', 'd');
    const priority = fc.constantFrom<Priority>('high', 'normal', 'low');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ tenant, priority }), { minLength: 1, maxLength: 120 }),
        fc.integer({ min: 1, max: 7 }),
        async (sent, slots) => {
          order = [];
          await redis.flushall();
          const ids = await send(sent);
          consume(slots);
          await ran(ids.length);
          await consumer?.close();
          consumer = undefined;
          expectFair(
            ids.map((id, index) => ({ id, ...(sent[index] ?? { tenant: '', priority: 'low' }) })),
            order,
          );
        },
      ),
      { numRuns: 25 },
    );
  });

  it('forgets the tenants of a pool when the queue has run empty', async () => {
    await send([...many(5, 'a'), ...many(5, 'b', 'low')]);
    consume(3);
    await ran(10);
    await eventually(async () => (await redis.exists('{q-shell}:calls-shell:fair')) === 0, 'the tags to be gone');
  });

  it('keeps the order of a queue whose tags were lost', async () => {
    await send([...many(20, 'a'), ...many(2, 'b')]);
    await redis.del('{q-shell}:calls-shell:fair');
    await send([...many(20, 'a'), ...many(2, 'b')]);
    consume(3);
    await ran(44);
    expect(new Set(order).size).toBe(44);
  });

  it('returns the position of a waiting call, and nothing after its dequeue', async () => {
    const ids = await send([...many(3, 'a'), ...many(1, 'b'), ...many(1, 'b', 'high')]);
    const places = await Promise.all(ids.map(async (callId) => (await queue.position('shell', { callId, attempt: 1 }))?.ahead));
    expect(places).toEqual([1, 3, 4, 2, 0]);
    consume(1);
    await ran(5);
    await eventually(async () => (await queue.stats('shell')).active === 0, 'the jobs to be gone');
    expect(await queue.position('shell', { callId: ids[0] ?? '', attempt: 1 })).toBeUndefined();
  });

  it('finds the oldest job among any number of tenants', async () => {
    const [taken = '', ...old] = await send(many(3, 'a'));
    for (const callId of old) await redis.hset(`{q-shell}:calls-shell:${callId}-1`, 'timestamp', Date.now() - 60_000);
    await redis.zrem('{q-shell}:calls-shell:prioritized', `${taken}-1`);
    await send([...many(20, 'b'), ...many(1, 'c')]);
    expect((await queue.stats('shell')).oldestWaitingMs).toBeGreaterThanOrEqual(60_000);
  });
});

/**
 * Expects, within a tenant and priority, the order of adding; between two tenants of a priority a lead of at most one while
 * both wait; and for each waiting priority no more skips than its limit.
 */
function expectFair(sent: readonly (Sent & { id: string })[], order: readonly string[]): void {
  const waiting = new Map(sent.map((one) => [one.id, one]));
  const passed = { high: 0, normal: 0, low: 0 };
  const turns = new Map<string, number>();
  for (const id of order) {
    const taken = waiting.get(id);
    if (taken === undefined) throw new Error(`${id} ran twice or was never sent`);
    const line = [...waiting.values()].filter(({ tenant, priority }) => tenant === taken.tenant && priority === taken.priority);
    expect(line[0]?.id).toBe(id);
    waiting.delete(id);
    const key = ({ tenant, priority }: Sent) => `${priority}:${tenant}`;
    turns.set(key(taken), (turns.get(key(taken)) ?? 0) + 1);
    for (const other of waiting.values()) {
      if (other.priority !== taken.priority || other.tenant === taken.tenant) continue;
      expect((turns.get(key(taken)) ?? 0) - (turns.get(key(other)) ?? 0)).toBeLessThanOrEqual(1);
    }
    passed[taken.priority] = 0;
    for (const priority of ['normal', 'low'] as const) {
      const isLower = priority === 'low' ? taken.priority !== 'low' : taken.priority === 'high';
      if (!isLower || ![...waiting.values()].some((other) => other.priority === priority)) continue;
      passed[priority] += 1;
      expect(passed[priority]).toBeLessThanOrEqual(MOST_PASSES[priority]);
    }
  }
}
