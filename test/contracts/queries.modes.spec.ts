import { afterAll, beforeAll, describe } from '@jest/globals';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { startTestPostgres, type TestPostgres } from '../support/postgres.js';
import { questionsOverManyCalls } from './queries.contract.js';

describe('with a history database', () => {
  let redis: RedisServer;
  let postgres: TestPostgres;

  beforeAll(async () => {
    [redis, postgres] = await Promise.all([startRedisServer(), startTestPostgres()]);
  });
  questionsOverManyCalls(() => Promise.resolve({ redisUrl: redis.url, databaseUrl: postgres.url }));

  afterAll(() => Promise.all([redis.stop(), postgres.stop()]));
});
