import type { RedisConnection } from '#redis';

/** Whether Redis answers in time, which readiness asks. Never rejects. */
export function pingRedis(redis: RedisConnection, patienceMs = 1_000): Promise<boolean> {
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
