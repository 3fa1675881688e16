import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CallStore, EventLog } from '#event-log';
import { createRedis, keys, LuaScript, measureMemory, memoryShare, partitionNames, type RedisConnection } from '#redis';
import { type ClusterRedis, startClusterRedis } from '../support/cluster-redis.js';
import { aCall, aSubmission, endOf } from '../support/sample-calls.js';

const PARTITIONS = 16;

let cluster: ClusterRedis;
let redis: RedisConnection;
beforeAll(async () => {
  cluster = await startClusterRedis();
  redis = createRedis(cluster.url);
  await redis.set(keys.logMetadata(), JSON.stringify({ partitions: PARTITIONS }));
});
afterAll(async () => {
  redis?.disconnect();
  await cluster?.stop();
});

/** Partitions by the number of the master that has them. */
async function partitionsOf(master: number): Promise<string[]> {
  const names = partitionNames(PARTITIONS);
  const slots = await Promise.all(names.map((name) => redis.cluster('KEYSLOT', keys.epoch(name))));
  return names.filter((_, index) => Math.floor((slots[index] ?? 0) / Math.ceil(16_384 / 3)) === master);
}

it('measures how full a cluster is by its fullest master', async () => {
  const nodes = cluster.masters.map(({ url }) => createRedis(url));
  try {
    for (const node of nodes) await node.config('SET', 'maxmemory', '1gb');
    for (const node of nodes) {
      const { usedBytes } = await measureMemory(node);
      await node.config('SET', 'maxmemory', 2 * usedBytes);
      const share = memoryShare(await measureMemory(redis));
      expect([share > 0.4, share < 0.6]).toEqual([true, true]);
      await node.config('SET', 'maxmemory', '1gb');
    }
    expect(memoryShare(await measureMemory(redis))).toBeLessThan(0.4);
  } finally {
    for (const node of nodes) {
      await node.config('SET', 'maxmemory', '0');
      node.disconnect();
    }
  }
});

it('wakes the suspended parent by the End of a child, on every node', async () => {
  const log = new EventLog(redis, { partitions: PARTITIONS });
  const store = new CallStore(redis);
  const author = { source: '/worker/test', actor: 'worker:test' };
  const claim = async (callId: string, attempt: number) => {
    const claimed = await log.claim({ callId, attempt, leaseMs: 30_000, worker: 'test', author });
    if (!('fence' in claimed)) throw new Error(`the claim of ${callId} was refused: ${claimed.code}`);
    return { by: 'worker', fence: claimed.fence, writeSeq: 1 } as const;
  };
  try {
    for (const master of cluster.masters.keys()) {
      const [partition] = await partitionsOf(master);
      const parent = `${partition}-01JZ8C5W3Q4X9R7T2M6K8N0P1V`;
      const child = log.newCallIdBeside(parent);
      expect((await log.accept(aCall(parent))).code).toBe('OK');
      const meta = { tenantId: 'acme', tool: 'echo', parentCallId: parent };
      expect((await log.accept(aCall(child, { meta, submitted: aSubmission({ parentCallId: parent }) }))).code).toBe('OK');
      const data = { reason: 'suspended', nextAttempt: 2, delayMs: 60_000, until: 'children' } as const;
      expect((await log.suspend({ callId: parent, guard: await claim(parent, 1), data, author })).code).toBe('OK');
      expect(await log.claim({ callId: parent, attempt: 2, leaseMs: 30_000, worker: 'test', author })).toMatchObject({ code: 'NOT_DUE' });
      const end = { ...endOf('completed'), attempts: 1 };
      expect((await log.end({ callId: child, guard: await claim(child, 1), data: end, author })).code).toBe('OK');
      await claim(parent, 2);
      expect(await store.snapshot(parent)).toMatchObject({ status: 'running', attempt: 2 });
    }
  } finally {
    await log.close();
  }
});

it('loads a missing script into a node while another node and its replica are away', async () => {
  const script = new LuaScript(`#!lua flags=allow-oom\nreturn redis.call('SET', KEYS[1], ARGV[1])`);
  const [away, [first, second]] = await Promise.all([partitionsOf(0), partitionsOf(1)]);
  expect(away.length).toBeGreaterThan(0);
  const write = (partition = '') => script.run(redis, [keys.epoch(partition)], ['7']);
  expect(await write(first)).toBe('OK');
  for (const nodes of [cluster.masters, cluster.replicas]) nodes[0]?.signal('SIGSTOP');
  const node = createRedis(cluster.masters[1]?.url ?? '');
  await node.script('FLUSH');
  expect(await write(second)).toBe('OK');
  expect(await node.get(keys.history(second ?? ''))).toMatch(/^[0-9a-f]{40}$/);
  node.disconnect();
});
