import { Cluster } from 'ioredis';
import type { RedisConnection } from './redis-client.js';

/**
 * What `send` sends on the connection, and what follows before the next tick, leaves in one write: Redis reads it at
 * once, and syncs it to disk at once. Changes nothing on a cluster, where commands go to several nodes.
 */
export function writeTogether<T>(redis: RedisConnection, send: () => T): T {
  if (redis instanceof Cluster || redis.status !== 'ready') return send();
  const { stream } = redis;
  stream.cork();
  process.nextTick(() => stream.uncork());
  return send();
}
