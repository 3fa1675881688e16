import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createRedis, keys, LuaScript, partitionName, type RedisConnection } from '#redis';
import { type ClusterRedis, startClusterRedis } from '../support/cluster-redis.js';

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
  const names = Array.from({ length: PARTITIONS }, (_, index) => partitionName(index));
  const slots = await Promise.all(names.map((name) => redis.cluster('KEYSLOT', keys.epoch(name))));
  return names.filter((_, index) => Math.floor((slots[index] ?? 0) / Math.ceil(16_384 / 3)) === master);
}

it('a node that does not know a script gets it while another node and its replica are away', async () => {
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
