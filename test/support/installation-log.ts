import { createRedis, keys, partitionNames, type RedisConnection } from '#redis';
import { eventually } from './eventually.js';
import { checkInvariants } from './log-invariants.js';

/**
 * Violations of the invariants in the log of a running installation; empty if there are none. Invariants that need an idle
 * installation are checked by `TestCluster.close`.
 *
 * Events during the check would look like violations (the head of a call is newer than its events already read), and a call whose
 * 202 was lost may still run after a test has seen the end of all others. The check is therefore repeated until no event arrives
 * during it.
 */
export async function findInvariantViolations(redisUrl: string, partitions = 16): Promise<string[]> {
  const redis = createRedis(redisUrl);
  try {
    return await eventually(async () => {
      const before = await lastSeqs(redis, partitions);
      const violations = await checkInvariants(redis, partitions);
      return (await lastSeqs(redis, partitions)) === before ? violations : undefined;
    }, 'a reading of the log during which no event comes');
  } finally {
    redis.disconnect();
  }
}

async function lastSeqs(redis: RedisConnection, partitions: number): Promise<string> {
  const seqs = partitionNames(partitions).map((partition) => redis.get(keys.seq(partition)));
  return (await Promise.all(seqs)).join();
}
