import type { RedisConnection } from './redis-client.js';

/**
 * Groups partitions whose keys one command or script may touch: all together on a single node, each alone on a cluster, where a
 * script runs in one slot. Read one by one, 16 partitions would double the cost of an idle worker.
 */
export function partitionGroups(redis: Pick<RedisConnection, 'isCluster'>, partitions: readonly string[]): readonly (readonly string[])[] {
  return redis.isCluster ? partitions.map((partition) => [partition]) : [partitions];
}
