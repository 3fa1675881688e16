import { createRedis } from '#redis';
import { checkInvariants } from './log-invariants.js';

/**
 * What the log of an installation that still runs violates of the invariants; empty when all is well. What only shows when
 * nothing is under way any more is checked by `TestCluster.close`.
 */
export async function findInvariantViolations(redisUrl: string, partitions = 16): Promise<string[]> {
  const redis = createRedis(redisUrl);
  try {
    return await checkInvariants(redis, partitions);
  } finally {
    redis.disconnect();
  }
}
