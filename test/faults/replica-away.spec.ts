import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('with DURABILITY=replicated and a replica that hangs', () => {
  let toolyard: TestCluster;
  let replica: RedisServer;
  let agent: Agent;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 0, env: { WORKER_POOLS: 'read,shell' } });
    replica = await startRedisServer({
      settings: ['--save', '', '--appendonly', 'no', '--replicaof', '127.0.0.1', String(toolyard.redis.port)],
    });
    const gateway = await toolyard.gateway({ DURABILITY: 'replicated', LOG_DEADLINE_MS: '3000' });
    agent = new Agent(gateway.url);
    const redis = createRedis(toolyard.redis.url);
    await eventually(async () => (await redis.wait(1, 1000)) === 1, 'the replica to follow');
    redis.disconnect();
  });
  afterAll(async () => {
    replica?.signal('SIGCONT');
    await toolyard?.close();
    await replica?.stop();
  });

  const calls = [{ tool: 'echo', arguments: {} }];
  const requests: [what: string, method: string, path: (callId: string) => string, body: object][] = [
    ['a call', 'POST', () => '/v1/calls', { tool: 'echo', arguments: {} }],
    ['the cancel of a running call', 'POST', (callId) => `/v1/calls/${callId}/cancel`, {}],
    ['a batch', 'POST', () => '/v1/batches', { calls }],
    ['a message to a session', 'POST', () => '/v1/sessions/one/steer', { message: 'stop' }],
    ['the cancel of a session', 'POST', () => '/v1/sessions/two/cancel', {}],
    ['what is set for a session', 'PUT', () => '/v1/sessions/three', { posture: { autonomy: 'supervised' } }],
  ];
  it.each(requests)('%s is acknowledged only when the replica has it', async (what, method, path, body) => {
    const { body: call } = await agent.submit('shell', { command: 'sleep 300' });
    await eventually(async () => (await agent.get(`/v1/calls/${call.id}`)).body.status === 'running', 'the call to run');
    const headers = { 'idempotency-key': what.replaceAll(' ', '-') };
    const ask = () => agent.request<{ detail?: string }>(method, path(call.id), body, headers);

    replica.signal('SIGSTOP');
    // The repetition finds what the first request wrote, and no replica has it.
    const refused = [await ask(), await ask()];
    replica.signal('SIGCONT');
    const why = { status: 503, body: { detail: expect.stringContaining('No replica of Redis confirmed') } };
    expect(refused).toMatchObject([why, why]);
    const repeated = await eventually(async () => {
      const answer = await ask();
      return answer.status === 503 ? undefined : answer;
    }, 'the repetition to be acknowledged');
    expect([200, 202]).toContain(repeated.status);
    await agent.request('POST', `/v1/calls/${call.id}/cancel`, {});
  });

  it.each(requests.slice(2))('%s waits for it, and the gateway stays ready', async (_what, method, path, body) => {
    replica.signal('SIGSTOP');
    const asked = Array.from({ length: 3 }, () => agent.request(method, path(''), body));
    let isOver = false;
    const settled = Promise.allSettled(asked).finally(() => (isOver = true));
    const unready: string[] = [];
    while (!isOver) {
      const answer = await fetch(`${toolyard.gateways[0]?.url}/readyz`);
      if (!answer.ok) unready.push(await answer.text());
    }
    await settled;
    replica.signal('SIGCONT');
    expect(unready).toEqual([]);
  });
});
