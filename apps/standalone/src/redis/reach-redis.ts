import { setTimeout as delay } from 'node:timers/promises';
import { createRedis } from '#redis';
import { StartupError } from '../start-failure.js';

const WITHIN_MS = 5_000;

/** Checks that the Redis of REDIS_URL answers: later clients would wait for it without limit. @throws StartupError */
export async function waitForRedis(url: string): Promise<void> {
  let said = `no answer in ${WITHIN_MS / 1000} s`;
  const client = connectTo(url, (error) => (said = error.message));
  const giveUp = new AbortController();
  try {
    const answer = client.ping().catch((error: unknown) => {
      said = error instanceof Error ? error.message : String(error);
    });
    const pong = await Promise.race([answer, delay(WITHIN_MS, undefined, { signal: giveUp.signal }).catch(() => undefined)]);
    if (pong !== 'PONG')
      throw new StartupError(
        `Cannot use the Redis of REDIS_URL (${said}). Start it, correct REDIS_URL, or unset it to let Toolyard start a private one.`,
      );
  } finally {
    giveUp.abort();
    client.disconnect();
  }
}

function connectTo(url: string, onError: (error: Error) => void) {
  try {
    return createRedis(url, { name: 'standalone-check', onError });
  } catch (error) {
    throw new StartupError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
