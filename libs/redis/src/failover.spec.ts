import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { keys } from './keys.js';
import { LuaScript } from './lua-script.js';
import { createRedis, type RedisConnection } from './redis-client.js';

const [HISTORY, EPOCH] = [keys.history('00'), keys.epoch('00')];

describe('a master that may be a new one', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    await redis.config('SET', 'maxmemory', '0');
    await redis.flushall();
    await redis.set(keys.logMetadata(), JSON.stringify({ partitions: 1 }));
    await redis.set(HISTORY, 'another');
    await redis.script('FLUSH');
  });

  const script = new LuaScript(`#!lua flags=allow-oom\nreturn redis.call('SET', KEYS[1], ARGV[1])`);

  it('notices a master that may be a new one, and then writes to it, also when it is full', async () => {
    await redis.config('SET', 'maxmemory', '1');
    expect(await script.run(redis, ['{p00}:x'], ['1'])).toBe('OK');
    expect(await redis.get(HISTORY)).toMatch(/^[0-9a-f]{40}$/);
    expect(await redis.get(EPOCH)).toBeNull();
  });
});
