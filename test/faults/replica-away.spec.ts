import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedKey } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { Agent, type Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** The names of connections that WAIT blocks now. */
async function namesOfBlocked(redis: RedisConnection): Promise<readonly string[]> {
  const lines = String(await redis.client('LIST')).split('\n');
  return lines.filter((line) => / flags=\w*b/.test(line) && / cmd=wait/.test(line)).map((line) => / name=(\S*)/.exec(line)?.[1] ?? '');
}

/** The first answer that the replica confirms in time: a slow one may be late. */
const confirmed = <T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> =>
  eventually(async () => {
    const answer = await ask();
    return answer.status === 503 ? undefined : answer;
  }, 'the replica to confirm');

describe('with DURABILITY=replicated and a replica that hangs', () => {
  let toolyard: TestCluster;
  let replica: RedisServer;
  let agent: Agent;
  let redis: RedisConnection;
  let revoked = '';
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 0, env: { WORKER_POOLS: 'read,shell' } });
    replica = await startRedisServer({
      settings: ['--save', '', '--appendonly', 'no', '--replicaof', '127.0.0.1', String(toolyard.redis.port)],
    });
    const gateway = await toolyard.gateway({ DURABILITY: 'replicated', LOG_DEADLINE_MS: '3000' });
    agent = new Agent(gateway.url);
    redis = createRedis(toolyard.redis.url);
    await eventually(async () => (await redis.wait(1, 1000)) === 1, 'the replica to follow');
    const issued = await confirmed(() => agent.request<IssuedKey>('POST', '/v1/keys', { name: 'revoked', scopes: ['read'] }));
    revoked = issued.body.id;
    await confirmed(() => agent.request('DELETE', `/v1/keys/${revoked}`));
  });
  afterAll(async () => {
    redis?.disconnect();
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
    // Nothing else of it is written: the key was revoked before.
    ['an administrative act', 'DELETE', () => `/v1/keys/${revoked}`, {}],
  ];
  it.each(requests)(
    'acknowledges %s only when the replica has it; no connection of other commands waits for that',
    async (what, method, path, body) => {
      const key = what.replaceAll(' ', '-');
      const { body: call } = await confirmed(() =>
        agent.submit('shell', { command: 'sleep 300' }, {}, { 'idempotency-key': `before-${key}` }),
      );
      await eventually(async () => (await agent.get(`/v1/calls/${call.id}`)).body.status === 'running', 'the call to run');
      const headers = { 'idempotency-key': key };
      const ask = () => agent.request<{ detail?: string }>(method, path(call.id), body, headers);

      replica.signal('SIGSTOP');
      // The repetitions find what the first request wrote, and no replica has it.
      let isSeen = false;
      const asked = (async () => {
        const answers = [await ask()];
        while (!isSeen) answers.push(await ask());
        return [...answers, await ask()];
      })();
      const names = await eventually(async () => {
        const found = await namesOfBlocked(redis);
        return found.length > 0 ? found : undefined;
      }, 'the write to wait for the replica').finally(() => (isSeen = true));
      expect(names.filter((name) => !/^gateway-(?:replicas|durable)\b/.test(name))).toEqual([]);
      const refused = await asked;
      replica.signal('SIGCONT');
      const why = { status: 503, body: { detail: expect.stringContaining('Too few replicas of Redis confirmed') } };
      expect(refused).toMatchObject(refused.map(() => why));
      const repeated = await confirmed(ask);
      expect([200, 202, 204]).toContain(repeated.status);
      await agent.request('POST', `/v1/calls/${call.id}/cancel`, {});
    },
  );

  it.each(requests.slice(2))('waits with %s for the replica, and the gateway stays ready', async (_what, method, path, body) => {
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

describe('a worker with DURABILITY=replicated and a replica that hangs', () => {
  let toolyard: TestCluster;
  let replica: RedisServer;
  let agent: Agent;
  let redis: RedisConnection;
  beforeAll(async () => {
    toolyard = await startTestCluster({ env: { WORKER_POOLS: 'read,shell' }, workers: 0 });
    replica = await startRedisServer({
      settings: ['--save', '', '--appendonly', 'no', '--replicaof', '127.0.0.1', String(toolyard.redis.port)],
    });
    await toolyard.worker({ DURABILITY: 'replicated' });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    redis = createRedis(toolyard.redis.url);
    await eventually(async () => (await redis.wait(1, 1000)) === 1, 'the replica to follow');
  });
  afterAll(async () => {
    redis?.disconnect();
    replica?.signal('SIGCONT');
    await toolyard?.close();
    await replica?.stop();
  });

  const blocked = () => namesOfBlocked(redis);

  it('ends calls late without the replica, while everything else of the worker continues', async () => {
    replica.signal('SIGSTOP');
    const { body: first } = await agent.submit('echo', { n: 1 });
    const names = await eventually(async () => {
      const found = await blocked();
      return found.length > 0 ? found : undefined;
    }, 'the End to wait for the replica');
    expect(names).toEqual([expect.stringMatching(/^worker-replicas/)]);
    expect((await fetch(`${toolyard.workers[0]?.url}/readyz`)).status).toBe(200);
    expect((await agent.ended(first.id)).outcome).toBe('completed');
    replica.signal('SIGCONT');
    expect((await agent.run('echo', { n: 2 })).outcome).toBe('completed');
  });

  it('runs no call with the effect `once` before the replica has its Start', async () => {
    replica.signal('SIGSTOP');
    const { body: call } = await agent.submit('shell', { command: 'echo ran' });
    const types = async () => (await agent.events(call.id)).map(({ type }) => type);
    await eventually(async () => (await types()).includes('call.start'), 'the Start to be in the log');
    await eventually(async () => (await blocked()).length > 0, 'the Start to wait for the replica');
    expect(await types()).toEqual(['call.submitted', 'call.start']);
    replica.signal('SIGCONT');
    expect((await agent.ended(call.id)).outcome).toBe('completed');
  });

  it.each([
    ['the Start of a call with the effect `once`', 'shell', { command: 'echo other' }],
    ['an End', 'echo', { n: 3 }],
  ])('writes the updates of other calls while %s waits for the replica', async (_what, tool, args) => {
    const { body: running } = await agent.submit('shell', { command: 'while sleep 0.1; do date; done' });
    const updates = async () => (await agent.events(running.id)).filter(({ type }) => type === 'call.update').length;
    // Runs only after the replica has its Start.
    await eventually(async () => (await updates()) > 0, 'the call to run');

    replica.signal('SIGSTOP');
    const { body: waiting } = await agent.submit(tool, args);
    await eventually(async () => (await blocked()).length > 0, 'a WAIT');
    const before = await updates();
    // More than one: the first may have been written before the WAIT.
    await eventually(async () => (await updates()) > before + 2, 'the output of the call that runs');
    await eventually(async () => (await blocked()).length > 0, 'the WAIT to go on');
    expect((await agent.get(`/v1/calls/${running.id}`)).body.status).toBe('running');

    replica.signal('SIGCONT');
    await agent.request('POST', `/v1/calls/${running.id}/cancel`, {});
    for (const { id } of [running, waiting]) await agent.ended(id);
  });
});
