import { createRedis } from '#redis';

const PATIENCE_MS = 15_000;

/** Resolves when Redis answers; rejects with one sentence when it did not within 15 s. Later outages are sat out. */
export async function awaitRedis(redisUrl: string, patienceMs = PATIENCE_MS): Promise<void> {
  let last = 'no answer';
  const redis = createRedis(redisUrl, { name: 'worker-start', onError: (error) => (last = error.message) });
  let timer: NodeJS.Timeout | undefined;
  const outOfPatience = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StartFailure(`Redis did not answer within ${patienceMs / 1000} s (${last}). Start it, or set REDIS_URL to the one to use.`)), patienceMs);
  });
  try {
    await Promise.race([redis.ping(), outOfPatience]);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}

/** Why a worker does not start, in a sentence for the person who can cure it. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}
