import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { LOG_FORMAT, ensureLogMetadata } from './log-metadata.js';

describe('an installation of the log', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  const stored = async (): Promise<unknown> => JSON.parse((await redis.get(keys.logMetadata())) ?? 'null');

  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
  });
  beforeEach(() => redis.flushall());
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('writes the metadata of an installation once and reads it afterwards', async () => {
    await ensureLogMetadata(redis, 4);
    await ensureLogMetadata(redis, 4);
    expect(await stored()).toEqual({ format: LOG_FORMAT, partitions: 4 });
  });

  it.each([1, 2])('refuses an installation of a release before 0.2.0 with instructions: format %i', async (format) => {
    const text = JSON.stringify({ format, partitions: 4 });
    await redis.set(keys.logMetadata(), text);
    await expect(ensureLogMetadata(redis, 4)).rejects.toThrow(
      new RegExp(`by a release before 0\\.2\\.0 \\(format ${format}\\).*Let its calls end .*an empty Redis.*upgrade\\.md`),
    );
    expect(await redis.get(keys.logMetadata())).toBe(text);
  });

  it('refuses an installation of a later format, or of another number of partitions, and leaves it alone', async () => {
    const later = JSON.stringify({ format: LOG_FORMAT + 1, partitions: 4 });
    await redis.set(keys.logMetadata(), later);
    await expect(ensureLogMetadata(redis, 4)).rejects.toThrow(`format ${LOG_FORMAT + 1}`);
    expect(await redis.get(keys.logMetadata())).toBe(later);
    await redis.set(keys.logMetadata(), JSON.stringify({ format: LOG_FORMAT, partitions: 8 }));
    await expect(ensureLogMetadata(redis, 4)).rejects.toThrow('set PARTITIONS=8');
    expect(await stored()).toEqual({ format: LOG_FORMAT, partitions: 8 });
  });
});
