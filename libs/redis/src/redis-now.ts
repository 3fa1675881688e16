import type { RedisConnection } from './redis-client.js';

/** Clock of Redis, ms since 1970. Processes compare times only by this shared clock. */
export async function redisNow(redis: Pick<RedisConnection, 'time'>): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
