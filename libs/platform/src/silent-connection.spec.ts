import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { connectionName, createRedis, openConnections, type RedisConnection, waitUntilConnected } from '#redis';
import { eventually } from '../../../test/support/eventually.js';
import { FaultyProxy } from '../../../test/support/faulty-proxy.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { silentConnection } from './silent-connection.js';

const ROLES = ['command', 'producer', 'blocking', 'subscriber'] as const;

describe('the connections of a process to Redis', () => {
  let server: RedisServer;
  let proxy: FaultyProxy;
  let url: string;
  let direct: RedisConnection;
  const opened: RedisConnection[] = [];
  beforeAll(async () => {
    server = await startRedisServer();
    proxy = await FaultyProxy.start(server.url);
    url = proxy.url.replace('http:', 'redis:');
    direct = createRedis(server.url, { name: 'direct' });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    proxy.refuses = undefined;
    for (const redis of opened.splice(0)) redis.disconnect();
  });
  afterAll(async () => {
    direct.disconnect();
    await proxy.close();
    await server.stop();
  });

  const open = (options: Parameters<typeof createRedis>[1]): RedisConnection => {
    const redis = createRedis(url, options);
    opened.push(redis);
    return redis;
  };
  const refuse = (name: string) => void (proxy.refuses = new RegExp(`setname\r\n\\$\\d+\r\n${name}\r\n`, 'i'));

  it('finds each lost connection that Redis listed before', async () => {
    for (const role of ROLES) await waitUntilConnected(open({ role, name: `of-${role}` }));
    await waitUntilConnected(open({ name: 'of-waits', waits: true }));
    const listed = String(await direct.client('LIST')).matchAll(/ name=(of-\S+) /g);
    const names = [...listed].map(([, name = '']) => name).toSorted();
    expect(openConnections(url).map(connectionName).toSorted()).toEqual(names);
    for (const name of names) {
      await eventually(async () => (await silentConnection(url)) === undefined, 'all connections to stand');
      refuse(name);
      proxy.cut();
      await eventually(async () => (await silentConnection(url)) === name, `${name} to be found`);
      proxy.refuses = undefined;
    }
  });

  it('asks no connection to Redis that its owner has closed, or has just opened', async () => {
    const closed = open({ name: 'closed' });
    await waitUntilConnected(closed);
    closed.disconnect();
    refuse('begins');
    open({ name: 'begins' });
    expect(await silentConnection(url)).toBeUndefined();
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 5_001);
    expect(await silentConnection(url)).toBe('begins');
  });
});
