import { ensureLogMetadata } from '#event-log';
import { createRedis, getServerInfo, type RedisConnection } from '#redis';
import { pingRedis } from './ping-redis.js';
import { connectionHint } from './connection-hint.js';
import { StartupError } from './startup-error.js';

const PATIENCE_MS = 15_000;
/** After it the person who waits is told for what. */
const SILENCE_MS = 2_000;
const OLDEST_MAJOR = 7;

/**
 * Resolves when Redis answers and its log has the form that this process works with. Rejects with a StartupError when it
 * did not answer within 15 s, which standard error is told of in between, refuses this process, is too old, or holds
 * another log. Outages after the start are sat out.
 */
export async function waitForRedis(
  { redisUrl, partitions }: { readonly redisUrl: string; readonly partitions: number },
  name: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  let last = 'no answer';
  const since = performance.now();
  const redis = createRedis(redisUrl, { name, onError: (error) => (last = reasonOf(error)) });
  const silence = setTimeout(() => {
    process.stderr.write(`Redis does not answer yet (${last}); waiting for it up to ${patienceMs / 1000} s.\n`);
  }, SILENCE_MS);
  try {
    if (!(await pingRedis(redis, patienceMs))) {
      const waited = performance.now() - since < patienceMs / 2 ? 'refused this process' : `did not answer within ${patienceMs / 1000} s`;
      throw new StartupError(`Redis ${waited} (${last}). ${connectionHint(last)}`);
    }
    await checkVersion(redis);
    await ensureLogMetadata(redis, partitions).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      throw new StartupError(isRefusal(error) ? `Redis refused to be written to (${message}). ${connectionHint(message)}` : message);
    });
  } finally {
    clearTimeout(silence);
    redis.disconnect();
  }
}

/** What is too old, or tells nothing of itself, is found by what it answers later. */
async function checkVersion(redis: RedisConnection): Promise<void> {
  const facts = await getServerInfo(redis).catch(() => undefined);
  const major = Number(facts?.version.split('.')[0]);
  if (facts?.server === 'redis' && major < OLDEST_MAJOR) {
    throw new StartupError(
      `This Redis has version ${facts.version}, and Toolyard needs ${OLDEST_MAJOR} or newer (or Valkey). Install one, or name another in REDIS_URL.`,
    );
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** A cluster's client says that all nodes failed; why stands beside. */
function reasonOf(error: Error): string {
  return 'lastNodeError' in error && error.lastNodeError instanceof Error ? error.lastNodeError.message : error.message;
}
