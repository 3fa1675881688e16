import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, keys } from '#redis';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { waitForRedis } from './wait-for-redis.js';

describe('a start with a REDIS_URL that leads to', () => {
  let open: RedisServer;
  let locked: RedisServer;
  let replica: RedisServer;
  beforeAll(async () => {
    [open, locked] = await Promise.all([startRedisServer(), startRedisServer()]);
    replica = await startRedisServer({ settings: ['--save', '', '--appendonly', 'no', '--replicaof', `127.0.0.1 ${open.port}`] });
    const redis = createRedis(locked.url);
    await redis.config('SET', 'requirepass', 'secret');
    redis.disconnect();
  });
  afterAll(() => Promise.all([open, locked, replica].map((server) => server.stop())));

  it.each([
    ['a Redis with a password', () => locked.url, /^Redis refused this process \(NOAUTH .*\)\. .*user:password@/],
    ['a Redis with another password', () => locked.url.replace('//', '//:wrong@'), /WRONGPASS.*user:password@/],
    ['a replica', () => replica.url, /READONLY.*name its master/],
    ['a Redis instead of a Sentinel', () => open.url.replace('redis:', 'redis+sentinel:'), /is a Redis and no Sentinel/],
    ['a Redis instead of a cluster', () => open.url.replace('redis:', 'redis+cluster:'), /is no cluster/],
  ])('explains how to mend a start with a REDIS_URL that leads to %s', async (_what, url, says) => {
    await expect(waitForRedis({ what: 'worker', id: 'w', redisUrl: url(), partitions: 16, startTimeoutMs: 1_000 })).rejects.toThrow(says);
  });

  it('names the archive at a start with the REDIS_URL of a Redis that was trimmed', async () => {
    const redis = createRedis(open.url);
    await redis.set(keys.archive(), 'file:/srv/archive');
    const start = { what: 'worker', id: 'w', redisUrl: open.url, partitions: 16, startTimeoutMs: 1_000 } as const;
    await expect(waitForRedis(start)).rejects.toThrow(/archive file:\/srv\/archive.*ARCHIVE_URL/);
    await expect(waitForRedis({ ...start, archiveUrl: 'file:/srv/archive' })).resolves.toBeUndefined();
    redis.disconnect();
  });
});
