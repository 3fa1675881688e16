import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Limits } from '#contracts';
import { EventLog, EventLogFull } from '#event-log';
import { createRedis } from '#redis';
import { eventually } from '../support/eventually.js';
import { queueKey } from '../support/queue-key.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { startRedisServer } from '../support/redis-server.mjs';

/** All else of limits is in test/api/limits.spec.ts. */
describe('limits of calls', () => {
  let opened: TestGateway[] = [];
  const open = async (limits: Limits, count = 1, more: { redisUrl?: string; leaseMs?: number } = {}): Promise<TestGateway[]> => {
    const tenant = `limits-${randomUUID()}`;
    const change = { limits, ...more };
    opened = await Promise.all(Array.from({ length: count }, () => startTestGateway(tenant, change)));
    return opened;
  };
  const one = async (limits: Limits): Promise<TestGateway> => {
    const [gateway] = await open(limits);
    if (gateway === undefined) throw new Error('no gateway');
    return gateway;
  };
  afterEach(async () => {
    await Promise.all(opened.map((gateway) => gateway.close()));
    opened = [];
  });

  it('counts no call that the log did not take, nor waits for its end', async () => {
    const { agent } = await one({ rates: [{ per: 'tenant', calls: 1, windowMs: 3_600_000 }], concurrency: [{ per: 'tenant', calls: 1 }] });
    for (const error of [new EventLogFull(), new RangeError('the call is too large for one transition')]) {
      const accept = jest.spyOn(EventLog.prototype, 'accept').mockRejectedValueOnce(error);
      expect((await agent.submit('echo', {})).status).toBeGreaterThanOrEqual(400);
      accept.mockRestore();
    }
    expect((await agent.submit('echo', {})).status).toBe(202);
    expect((await agent.submit('echo', {})).status).toBe(429);
  });

  it('tells a queued call its place in line', async () => {
    const server = await startRedisServer();
    try {
      const [gateway] = await open({}, 1, { redisUrl: server.url });
      const ids: string[] = [];
      for (let n = 0; n < 3; n++) ids.push((await gateway?.agent.submit('echo', {}))?.body.id ?? '');
      const last = await eventually(async () => {
        const { waiting } = (await gateway?.agent.get(`/v1/calls/${ids[2]}`))?.body ?? {};
        return waiting?.position === 3 ? waiting : undefined;
      }, 'the last call to stand third');
      expect(last).toEqual({
        reason: 'queued',
        detail: 'Waits for a free worker of pool read: 2 of 3 waiting calls are before it, 0 run.',
        queueDepth: 3,
        position: 3,
        running: 0,
      });
    } finally {
      await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
      await server.stop();
    }
  });

  it('sends no Redis command for the limits of an unlimited call', async () => {
    const server = await startRedisServer();
    const redis = createRedis(server.url);
    try {
      const scripts = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
      const [gateway] = await open(
        { argumentBytes: 1000, rates: [{ per: 'key', calls: 1, windowMs: 60_000, tools: ['shell'] }] },
        1,
        // Batches of dead gateways are looked for every quarter of a lease, which takes scripts.
        { redisUrl: server.url, leaseMs: 600_000 },
      );
      const submit = async () => {
        expect((await gateway?.agent.submit('echo', {}))?.status).toBe(202);
      };
      await submit();
      await eventually(async () => (await redis.exists(queueKey('read', 'prioritized'))) === 1, 'the job to be added');
      const before = await scripts();
      for (let n = 0; n < 10; n++) await submit();
      await eventually(async () => (await redis.zcard(queueKey('read', 'prioritized'))) === 11, 'the jobs to be added');
      // Scripts: one accepts and one adds a job for each call; no set of any limit is read.
      expect((await scripts()) - before).toBe(20);
      expect(await redis.info('commandstats')).not.toContain('cmdstat_zcount');
    } finally {
      await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
      redis.disconnect();
      await server.stop();
    }
  });
});
