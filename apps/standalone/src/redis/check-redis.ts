import { connectionHint, pingRedis, StartupError } from '#platform';
import { createRedis, type RedisConnection } from '#redis';

const WITHIN_MS = 5_000;

/** Checks that the Redis of REDIS_URL answers, before the apps are loaded. @throws StartupError */
export async function checkRedis(url: string): Promise<void> {
  let last = 'no answer';
  const client = connectTo(url, (error) => (last = error.message));
  try {
    if (await pingRedis(client, WITHIN_MS)) return;
    throw new StartupError(
      `Cannot use the Redis of REDIS_URL (${last}). ${connectionHint(last)} Or unset REDIS_URL to let Toolyard start a private one.`,
    );
  } finally {
    client.disconnect();
  }
}

function connectTo(url: string, onError: (error: Error) => void): RedisConnection {
  try {
    return createRedis(url, { name: 'standalone-check', onError });
  } catch (error) {
    throw new StartupError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
