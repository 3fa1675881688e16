import { acceptsCommands, connectionName, openConnections } from '#redis';
import { pingRedis } from './ping-redis.js';

/**
 * Name of the first connection of this process to a server that is unusable; undefined if all are usable. A connection for
 * commands must answer PING within a second; one that blocks or subscribes must be connected. Never rejects.
 */
export async function silentConnection(redisUrl: string): Promise<string | undefined> {
  const connections = openConnections(redisUrl);
  const answers = await Promise.all(
    connections.map(async (redis) => redis.status === 'ready' && (!acceptsCommands(redis) || (await pingRedis(redis)))),
  );
  const silent = connections.find((_, index) => answers[index] === false);
  return silent && connectionName(silent);
}
