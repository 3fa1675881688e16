import { keys, partitionNames, type RedisConnection } from '#redis';

/** Keys that Redis looks at in one command. */
const SCANNED = 1_000;
/** In the key of a partition: releases that kept lists in Redis use what they have of it only with this field. */
const FORMAT_FIELD = 'f';

/**
 * Removes what releases kept in Redis to answer lists from, now that the history does. The keys of the partitions go last: while one
 * is there, the next worker looks again, also for what a worker of such a release made meanwhile. Without one nothing is read.
 * Resolves early when `signal` is aborted.
 */
export async function removeEarlierLists(redis: RedisConnection, partitions: number, signal: AbortSignal): Promise<void> {
  const names = partitionNames(partitions).map((partition) => keys.earlierLists(partition));
  const exist = await Promise.all(names.map((name) => redis.exists(name)));
  const found = names.filter((_name, index) => exist[index] === 1);
  if (found.length === 0) return;
  await Promise.all(found.map((name) => redis.hdel(name, FORMAT_FIELD)));
  const nodes = redis.isCluster && 'nodes' in redis ? redis.nodes('master') : [redis];
  for (const node of nodes) {
    for (let cursor: string | undefined = '0'; cursor !== undefined && !signal.aborted;) {
      const [next, matching]: [string, string[]] = await node.scan(cursor, 'MATCH', `${keys.earlierLists('*')}:*`, 'COUNT', SCANNED);
      await Promise.all(matching.map((key) => redis.unlink(key)));
      cursor = next === '0' ? undefined : next;
    }
  }
  if (!signal.aborted) await Promise.all(found.map((name) => redis.unlink(name)));
}
