import { openInstallation } from '#event-log';
import { createRedis, type RedisConnection } from '#redis';
import { StartFailure } from './start-failure.js';

const PATIENCE_MS = 15_000;

/**
 * Resolves when Redis answers and holds a log of this form. Rejects with a StartFailure when it did not answer within
 * 15 s, or holds another log. Outages after the start are sat out.
 */
export async function reachRedis(
  { redisUrl, partitions }: { redisUrl: string; partitions: number },
  patienceMs = PATIENCE_MS,
): Promise<void> {
  let last = 'no answer';
  const redis = createRedis(redisUrl, { name: 'gateway-start', onError: (error) => (last = error.message) });
  try {
    if (!(await answers(redis, patienceMs))) {
      throw new StartFailure(`Redis did not answer within ${patienceMs / 1000} s (${last}). Start it, or set REDIS_URL to the one to use.`);
    }
    await openInstallation(redis, partitions).catch((error: unknown) => {
      throw new StartFailure(error instanceof Error ? error.message : String(error));
    });
  } finally {
    redis.disconnect();
  }
}

function answers(redis: RedisConnection, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), patienceMs);
    redis
      .ping()
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}
