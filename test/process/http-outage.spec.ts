import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { testDatabase } from '../support/postgres.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';

describe('a gateway whose Redis goes away and comes back', () => {
  let redis: RedisServer;
  let gateway: TestGateway;
  let agent: Agent;
  let limited: Agent;
  beforeAll(async () => {
    redis = await startRedisServer();
    const keys = [
      { id: 'all', key: BOOTSTRAP_KEY, tenant: 'outage', scopes: [...SCOPES] },
      { id: 'limited', key: 'key-with-a-limit-of-two', tenant: 'outage', scopes: [...SCOPES], ratePerMinute: 2 },
    ];
    gateway = await startTestGateway('outage', { redisUrl: redis.url, databaseUrl: await testDatabase(), keys, logDeadlineMs: 4_000 });
    agent = gateway.agent;
    limited = new Agent(gateway.url, 'key-with-a-limit-of-two');
    await redis.kill();
  });
  afterAll(async () => {
    await gateway.close();
    await redis.stop();
  });

  it('answers submissions and reads without Redis with 503 and a retry time [DX-10]', async () => {
    for (const answer of await Promise.all([
      agent.submit('echo', {}),
      agent.submit('echo', {}, { sessionId: 's' }),
      agent.get('/v1/calls'),
      agent.get('/v1/calls/00-01JZ8C5W3Q4X9R7T2M6K8N0P1V'),
    ])) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it('shows a gateway without its Redis as alive and not ready', async () => {
    expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);
  });

  it('counts the rate of a key locally without Redis: no key is blocked, none is unlimited', async () => {
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await limited.get('/v1/tools')).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('serves again once Redis is back', async () => {
    await redis.start();
    await eventually(async () => (await fetch(`${gateway.url}/readyz`)).ok, 'the gateway to be ready');
    const { status, body } = await agent.submit('echo', { again: true });
    expect(status).toBe(202);
    const waiting = agent.get(`/v1/calls/${body.id}?wait=20`);
    await gateway.run(body.id);
    expect((await waiting).body.status).toBe('ended');
  });
});
