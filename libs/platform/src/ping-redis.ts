import type { RedisConnection } from '#redis';

/** Resolves with true if Redis answers PING in time. Never rejects. */
export function pingRedis(redis: RedisConnection, timeoutMs = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    redis
      .ping()
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}
