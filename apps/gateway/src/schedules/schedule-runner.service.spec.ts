import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { ScheduleRunner } from './schedule-runner.service.js';

type Dependencies = ConstructorParameters<typeof ScheduleRunner>;

/** Each fifth Monday of a February: 2016, 2044. */
const RARE = '0 0 * 2 1#5';

let server: RedisServer;
beforeAll(async () => void (server = await startRedisServer()));
afterAll(() => server.stop());

it('searches the due times of schedules in turns, between which everything else gets its turn', async () => {
  let turns = 0;
  const searchedIn: number[] = [];
  const schedules = Array.from({ length: 20 }, (_unused, n) => ({
    id: `sch-${n}`,
    tenantId: 't',
    createdAt: '2026-01-01T00:00:00.000Z',
    timeZone: 'UTC',
    get cron() {
      searchedIn.push(turns);
      return RARE;
    },
  }));
  const store = { tenants: async () => ['t'], list: async () => schedules };
  const runner = new ScheduleRunner(
    store as unknown as Dependencies[0],
    {} as Dependencies[1],
    {} as Dependencies[2],
    {} as Dependencies[3],
    {} as Dependencies[4],
    { error: () => {}, warn: () => {} } as unknown as Dependencies[5],
    { redisUrl: server.url } as Dependencies[6],
  );
  runner.onApplicationBootstrap();
  for (; searchedIn.length < schedules.length; turns += 1) await turn();
  expect(new Set(searchedIn).size).toBe(schedules.length);
  await runner.beforeApplicationShutdown();
});
