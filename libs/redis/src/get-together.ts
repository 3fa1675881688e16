import { Cluster } from 'ioredis';
import type { RedisConnection } from './redis-client.js';

interface Reads {
  readonly names: string[];
  readonly values: Promise<(string | null)[]>;
}

const gathering = new WeakMap<RedisConnection, Reads>();

/**
 * Reads a string. Reads of one turn of the event loop go in one MGET: 16 partitions cost one command. On a cluster each is a
 * command of its own, since the keys are in several slots.
 */
export async function getTogether(redis: RedisConnection, name: string): Promise<string | null> {
  if (redis instanceof Cluster) return redis.get(name);
  const reads = gathering.get(redis) ?? gather(redis);
  const index = reads.names.push(name) - 1;
  return (await reads.values)[index] ?? null;
}

function gather(redis: RedisConnection): Reads {
  const names: string[] = [];
  const values = Promise.resolve().then(() => {
    gathering.delete(redis);
    return redis.mget(names);
  });
  const reads = { names, values };
  gathering.set(redis, reads);
  return reads;
}
