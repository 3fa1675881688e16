import type { RedisConnection } from './redis-client.js';

/** The clock of Redis, which all processes share: ms since 1970. What processes compare with each other is by this clock. */
export async function redisNow(redis: Pick<RedisConnection, 'time'>): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
