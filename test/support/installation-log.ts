import { createRedis } from '#redis';
import { checkInvariants } from './log-invariants.js';

/** What the log of a whole installation violates of the invariants; empty when all is well. */
export async function violationsOf(redisUrl: string, partitions = 16): Promise<string[]> {
  const redis = createRedis(redisUrl);
  try {
    return await checkInvariants(redis, partitions);
  } finally {
    redis.disconnect();
  }
}
