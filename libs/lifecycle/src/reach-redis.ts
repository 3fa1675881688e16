import { openInstallation } from '#event-log';
import { createRedis } from '#redis';
import { answersPing } from './answers-ping.js';
import { StartFailure } from './start-failure.js';

const PATIENCE_MS = 15_000;
/** After it the person who waits is told for what. */
const SILENCE_MS = 2_000;

/**
 * Resolves when Redis answers and its log has the form that this process works with. Rejects with a StartFailure when it
 * did not answer within 15 s, which standard error is told of in between, or holds another log. Outages after the start are sat out.
 */
export async function reachRedis(
  { redisUrl, partitions }: { readonly redisUrl: string; readonly partitions: number },
  name: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  let last = 'no answer';
  const redis = createRedis(redisUrl, { name, onError: (error) => (last = error.message) });
  const silence = setTimeout(() => {
    process.stderr.write(`Redis does not answer yet (${last}); waiting for it up to ${patienceMs / 1000} s.\n`);
  }, SILENCE_MS);
  try {
    if (!(await answersPing(redis, patienceMs))) {
      throw new StartFailure(`Redis did not answer within ${patienceMs / 1000} s (${last}). Start it, or set REDIS_URL to the one to use.`);
    }
    await openInstallation(redis, partitions).catch((error: unknown) => {
      throw new StartFailure(error instanceof Error ? error.message : String(error));
    });
  } finally {
    clearTimeout(silence);
    redis.disconnect();
  }
}
