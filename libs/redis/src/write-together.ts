import { Cluster } from 'ioredis';
import type { RedisConnection } from './redis-client.js';

/**
 * Sends the commands of `send`, and those until the next tick, in one write, so that Redis reads and syncs them at once. No
 * effect on a cluster, where commands go to several nodes.
 */
export function writeTogether<T>(redis: RedisConnection, send: () => T): T {
  if (redis instanceof Cluster || redis.status !== 'ready') return send();
  const { stream } = redis;
  stream.cork();
  process.nextTick(() => stream.uncork());
  return send();
}
