import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { startRedisServer } from '../../../test/support/redis-server.mjs';
import { createRedis, parseRedisUrl, redisOptionsFor } from './redis-client.js';

describe('parseRedisUrl', () => {
  it('reads the Redis URL of a single node with credentials and a database', () => {
    expect(parseRedisUrl('redis://ann:p%3Ass@cache.example:6380/2')).toEqual({
      kind: 'single',
      options: { username: 'ann', password: 'p:ss', host: 'cache.example', port: 6380, db: 2 },
    });
  });

  it('turns TLS on for rediss and reads IPv6 hosts', () => {
    expect(parseRedisUrl('rediss://[::1]:6390')).toMatchObject({ options: { host: '::1', port: 6390, tls: {} } });
  });

  it('reads the URL of a Unix socket', () => {
    expect(parseRedisUrl('unix:///run/toolyard/redis.sock')).toMatchObject({
      kind: 'single',
      options: { path: '/run/toolyard/redis.sock' },
    });
  });

  it('reads the Redis URL of the nodes of Sentinel with the master name, and of a cluster', () => {
    expect(parseRedisUrl('redis+sentinel://a:26379,b:26380/main')).toMatchObject({
      kind: 'sentinel',
      options: {
        name: 'main',
        sentinels: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 26380 },
        ],
      },
    });
    expect(parseRedisUrl('redis+cluster://a,b:7001')).toMatchObject({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 6379 },
        { host: 'b', port: 7001 },
      ],
    });
    expect(parseRedisUrl('rediss+cluster://a')).toMatchObject({ kind: 'cluster', nodes: [{ host: 'a' }], options: { tls: {} } });
  });

  it.each(['', 'localhost:6379', 'http://x', 'redis://a,b', 'redis://a/x', 'redis://a:999999', 'unix://'])(
    'refuses the Redis URL %j with the expected form',
    (url) => {
      expect(() => parseRedisUrl(url)).toThrow(/Expected redis:\/\//);
    },
  );

  it('hides the password of a Redis URL in the message', () => {
    expect(() => parseRedisUrl('redis://u:hunter2@a,b')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
    );
  });
});

describe('createRedis', () => {
  it('connects to the Redis server that the URL names', async () => {
    const redis = createRedis(process.env.TEST_REDIS_URL ?? '', { name: 'redis-client-spec' });
    expect(await redis.ping()).toBe('PONG');
    redis.disconnect();
  });

  it('rejects commands of producers at once while the server is away', async () => {
    const redis = createRedis('redis://127.0.0.1:1', { role: 'producer' });
    await expect(redis.ping()).rejects.toThrow(/ECONNREFUSED|Connection is closed|Stream isn't writeable|max retries/i);
    redis.disconnect();
  });

  it('reconnects when the server refuses writes, since the address may lead to another one by then', async () => {
    const server = await startRedisServer();
    const redis = createRedis(server.url);
    try {
      await redis.set('a', 1);
      await redis.call('REPLICAOF', '127.0.0.1', '1');
      const reconnected = once(redis, 'ready');
      await expect(redis.set('a', 2)).rejects.toThrow(/^READONLY/);
      await reconnected;
    } finally {
      redis.disconnect();
      await server.stop();
    }
  });

  it('waits for Redis without limit in workers', () => {
    expect(redisOptionsFor(parseRedisUrl('redis://a')).maxRetriesPerRequest).toBeNull();
  });
});
