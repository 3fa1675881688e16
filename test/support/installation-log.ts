import { createRedis, keys, partitionNames, type RedisConnection } from '#redis';
import { eventually } from './eventually.js';
import { checkInvariants } from './log-invariants.js';

/**
 * What the log of an installation that still runs violates of the invariants; empty when all is well. What only shows when
 * nothing is under way any more is checked by `TestCluster.close`.
 *
 * Events that come while it reads would look like violations (the head of a call is newer than the events that were read), and a call
 * whose 202 was lost may still run when a test has seen the end of all others. So it reads again until no event came meanwhile.
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
