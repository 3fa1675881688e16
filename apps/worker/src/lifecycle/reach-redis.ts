import { openInstallation } from '#event-log';
import { createRedis } from '#redis';
import { StartFailure } from './start-failure.js';

const PATIENCE_MS = 15_000;

/**
 * Resolves when Redis answers and its log has the form that this worker reads. Rejects with a StartFailure when it did
 * not answer within 15 s, with an Error that says what to do when the log does not fit. Later outages are sat out.
 */
export async function reachRedis(redisUrl: string, partitions: number, patienceMs = PATIENCE_MS): Promise<void> {
  let last = 'no answer';
  const redis = createRedis(redisUrl, { name: 'worker-start', onError: (error) => (last = error.message) });
  let timer: NodeJS.Timeout | undefined;
  const outOfPatience = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new StartFailure(`Redis did not answer within ${patienceMs / 1000} s (${last}). Start it, or set REDIS_URL to the one to use.`),
        ),
      patienceMs,
    );
  });
  const opened = openInstallation(redis, partitions).catch((error: unknown) => {
    throw new StartFailure(error instanceof Error ? error.message : String(error));
  });
  try {
    await Promise.race([opened, outOfPatience]);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
    opened.catch(() => {});
  }
}
