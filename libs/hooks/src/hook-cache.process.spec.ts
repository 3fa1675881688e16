import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { AppliedHook } from '#contracts';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { HookCache } from './hook-cache.js';

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

it('caches no more answers of session hooks of a tenant than it may have at a time, and those of others', async () => {
  const cache = new HookCache(redis);
  const put = async (tenantId: string, by: AppliedHook['by']) => {
    const key = keys.hookAnswer(tenantId, 's', `${by}-${await redis.dbsize()}`);
    await cache.put(key, tenantId, { decision: 'allow' }, { by, cacheMs: 60_000 } as AppliedHook, () => false);
    return (await cache.get(key)) !== undefined;
  };
  expect(await put('full', 'session')).toBe(true);
  await redis.incrby(keys.hookAnswerBytes('full'), 67_108_864);
  expect([await put('full', 'session'), await put('full', 'operator'), await put('other', 'session')]).toEqual([false, true, true]);
  const seconds = await redis.ttl(keys.hookAnswerBytes('full'));
  expect([seconds > 86_000, seconds <= 86_400]).toEqual([true, true]);
});

it('counts answers of session hooks until they end, each once', async () => {
  const cache = new HookCache(redis);
  const put = async (name: string, cacheMs: number) => {
    const key = keys.hookAnswer('ending', 's', name);
    await cache.put(key, 'ending', { decision: 'allow' }, { by: 'session', cacheMs } as AppliedHook, () => false);
    return { key, sum: Number(await redis.get(keys.hookAnswerBytes('ending'))) };
  };
  const { sum: one } = await put('a', 60_000);
  expect([one > 512, (await put('a', 60_000)).sum]).toEqual([true, one]);
  const { key: short } = await put('b', 1);
  while ((await redis.exists(short)) === 1);
  expect((await put('c', 60_000)).sum).toBe(2 * one);
});
