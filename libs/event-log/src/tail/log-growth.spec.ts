import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, type RedisConnection } from '#redis';
import { eventually } from '../../../../test/support/eventually.js';
import { appendRaw, rawCallId } from '../../../../test/support/raw-log.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { LogGrowth } from './log-growth.js';

const HOUR_MS = 3_600_000;

describe('LogGrowth', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let growth: LogGrowth;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    growth = new LogGrowth({ redisUrl: server.url, redis, partitions: 4 });
  });
  afterAll(async () => {
    growth.close();
    redis.disconnect();
    await server.stop();
  });

  const blocked = async () => {
    const found = /^id=(\d+) .* name=log-growth .* flags=b /m.exec(String(await redis.client('LIST')));
    return found?.[1];
  };

  it('ends a rest for an event after the mark, written before or during the rest', async () => {
    await growth.mark();
    await appendRaw(redis, { callId: rawCallId(1) });
    await growth.grown(HOUR_MS, new AbortController().signal);
    await growth.mark();
    const rest = growth.grown(HOUR_MS, new AbortController().signal);
    await eventually(blocked, 'the rest to begin');
    await appendRaw(redis, { callId: rawCallId(2) });
    await rest;
  });

  it('ends a rest whose connection was lost, and rests on a new one', async () => {
    await growth.mark();
    const lost = growth.grown(HOUR_MS, new AbortController().signal);
    const first = await eventually(blocked, 'the rest to begin');
    await redis.client('KILL', 'ID', first);
    await lost;
    const next = growth.grown(HOUR_MS, new AbortController().signal);
    await eventually(async () => {
      const id = await blocked();
      return id !== first && id;
    }, 'the next rest to begin');
    await appendRaw(redis, { callId: rawCallId(3) });
    await next;
    expect(await blocked()).toBeUndefined();
  });

  it('ends a rest at an abort', async () => {
    await growth.mark();
    const stopped = new AbortController();
    const rest = growth.grown(HOUR_MS, stopped.signal);
    await eventually(blocked, 'the rest to begin');
    stopped.abort();
    await rest;
  });
});
