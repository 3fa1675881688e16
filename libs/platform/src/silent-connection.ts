import { connectionName, acceptsCommands, type RedisConnection } from '#redis';
import { pingRedis } from './ping-redis.js';

/**
 * The name of the first of these connections that is of no use now, undefined when all are. Those that take commands
 * answer a PING within a second; those that block or listen are connected. Never rejects.
 */
export async function silentConnection(connections: readonly RedisConnection[]): Promise<string | undefined> {
  const answers = await Promise.all(
    connections.map(async (redis) => redis.status === 'ready' && (!acceptsCommands(redis) || (await pingRedis(redis)))),
  );
  const silent = connections.find((_, index) => answers[index] === false);
  return silent && connectionName(silent);
}
