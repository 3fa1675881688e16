import type { RedisConnection } from './redis-client.js';

/**
 * The partitions in groups of which one command or script may touch the keys: all together on a single node, each alone on a cluster,
 * where a script runs in one slot. Asked one by one, 16 partitions cost an idle worker twice what one does.
 */
export function partitionGroups(redis: Pick<RedisConnection, 'isCluster'>, partitions: readonly string[]): readonly (readonly string[])[] {
  return redis.isCluster ? partitions.map((partition) => [partition]) : [partitions];
}
