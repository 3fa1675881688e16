import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { BATCH_LIMITS, type Limits, type Problem, type Quote } from '#contracts';
import { EventLog, EventLogFull } from '#event-log';
import { createRedis } from '#redis';
import { ChildCallService } from '../../apps/gateway/src/calls/admission/child-call.service.js';
import type { Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { queueKey } from '../support/queue-key.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { startRedisServer } from '../support/redis-server.mjs';

const ACT = { path: 'a.txt', content: 'x' };

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
  const problemOf = (answer: Answer) => answer.body as Problem;

  afterEach(async () => {
    await Promise.all(opened.map((gateway) => gateway.close()));
    opened = [];
  });

  it('lets exactly 20 of 25 actions pass that come to three gateways at once, and tells the others when to come again [DX-05, K-25, PP-100, PP-101]', async () => {
    const gateways = await open({ actionsPerHour: 20 }, 3);
    const act = async (n: number) => gateways[n % 3]?.agent.submit('file_write', ACT, { sessionId: 's' });
    const answers = await Promise.all(Array.from({ length: 25 }, (_unused, n) => act(n)));
    const refused = answers.flatMap((answer) => (answer === undefined || answer.status === 202 ? [] : [answer]));
    expect(refused).toHaveLength(5);
    for (const answer of refused) {
      expect([answer.status, Number(answer.headers.get('retry-after')) > 3_500]).toEqual([429, true]);
      const problem = problemOf(answer);
      expect(problem).toMatchObject({ code: 'rate_limited', result: { isError: true } });
      expect(problem.detail).toMatch(/^Rate limit exceeded: 20 of 20 actions in the last hour of session s/);
    }
    expect((await gateways[0]?.agent.submit('echo', {}, { sessionId: 's' }))?.status).toBe(202);
    expect((await gateways[0]?.agent.submit('file_write', ACT, { sessionId: 'other' }))?.status).toBe(202);
  });

  it('records a call that a limit refused, with its End and the limit', async () => {
    const { agent } = await one({ rates: [{ per: 'tool', calls: 0, windowMs: 60_000, tools: ['echo'] }] });
    const refused = await agent.submit('echo', {});
    const call = (await agent.get(`/v1/calls/${problemOf(refused).callId}`)).body;
    expect(call).toMatchObject({ status: 'ended', outcome: 'denied', error: { code: 'rate_limited' }, attempt: 0 });
    expect(call.decision).toMatchObject({ effect: 'deny' });
    expect(call.decision.reasons.at(-1)).toMatchObject({ axis: 'limits', rule: 'rate', effect: 'deny' });
    expect((await agent.events(call.id)).map(({ type }) => type)).toEqual(['call.submitted', 'call.end']);
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

  it('says when to come again where waiting helps, and nothing where it cannot: a tree of calls is counted for good', async () => {
    const { agent, claim } = await one({ treeCalls: 1, treeDepth: 1, concurrency: [{ per: 'session', calls: 3 }] });
    const answerOf = (answer: Answer) => [answer.status, problemOf(answer).code, answer.headers.get('retry-after')];
    for (let n = 0; n < 3; n++) expect((await agent.submit('echo', {}, { sessionId: 's' })).status).toBe(202);
    expect(answerOf(await agent.submit('echo', {}, { sessionId: 's' }))).toEqual([429, 'quota_exceeded', '1']);
    const { body: root } = await agent.submit('echo', {});
    await claim(root.id);
    const { body: child } = await agent.submit('echo', {}, { parentCallId: root.id });
    expect(answerOf(await agent.submit('echo', {}, { parentCallId: root.id }))).toEqual([429, 'quota_exceeded', null]);
    await claim(child.id);
    expect(answerOf(await agent.submit('echo', {}, { parentCallId: child.id }))).toEqual([429, 'quota_exceeded', null]);
  });

  it('keeps an accepted child when its parent cannot be read', async () => {
    const { agent, claim } = await one({});
    const { body: root } = await agent.submit('echo', {});
    await claim(root.id);
    const look = jest.spyOn(ChildCallService.prototype, 'isParentTerminal').mockRejectedValueOnce(new Error('Redis went away'));
    const { status, body: child } = await agent.submit('echo', {}, { parentCallId: root.id });
    expect([status, child.status, look.mock.calls.length]).toEqual([202, 'queued', 1]);
    look.mockRestore();
  });

  it('gives a place back when a call ends, whichever gateway is asked next', async () => {
    const [first, second] = await open({ concurrency: [{ per: 'tenant', calls: 2 }] }, 2);
    if (first === undefined || second === undefined) throw new Error('two gateways');
    const held = (await first.agent.submit('echo', {})).body;
    await second.agent.submit('echo', {});
    const refused = await second.agent.submit('echo', {});
    expect([refused.status, problemOf(refused).code]).toEqual([429, 'quota_exceeded']);
    expect(problemOf(refused).detail).toContain('2 of 2 calls that have not ended');
    await first.run(held.id);
    expect((await second.agent.submit('echo', {})).status).toBe(202);
    expect((await first.agent.submit('echo', {})).status).toBe(429);
  });

  it('frees the place of a call that was cancelled', async () => {
    const { agent } = await one({ concurrency: [{ per: 'key', calls: 1 }] });
    const held = (await agent.submit('echo', {})).body;
    await agent.request('POST', `/v1/calls/${held.id}/cancel`, {});
    expect((await agent.submit('echo', {})).status).toBe(202);
  });

  it('answers a repetition as the first submission however full the limits are, and does not count it', async () => {
    const { agent } = await one({ actionsPerHour: 2 });
    const key = { 'idempotency-key': 'k' };
    const first = await agent.submit('file_write', ACT, { sessionId: 's' }, key);
    expect((await agent.submit('file_write', ACT, { sessionId: 's' }, key)).body.id).toBe(first.body.id);
    expect((await agent.submit('file_write', ACT, { sessionId: 's' })).status).toBe(202);
    expect((await agent.submit('file_write', ACT, { sessionId: 's' })).status).toBe(429);
    expect((await agent.submit('file_write', ACT, { sessionId: 's' }, key)).body.id).toBe(first.body.id);
  });

  it('lets a refused request pass with the same Idempotency-Key once there is room', async () => {
    const { agent, run } = await one({ concurrency: [{ per: 'key', calls: 1 }] });
    const held = (await agent.submit('echo', {})).body;
    const key = { 'idempotency-key': 'later' };
    expect((await agent.submit('echo', { n: 1 }, {}, key)).status).toBe(429);
    await run(held.id);
    expect((await agent.submit('echo', { n: 1 }, {}, key)).status).toBe(202);
  });

  it('refuses arguments above their size with a clear error, and queues nothing [DX-12]', async () => {
    const { agent } = await one({ argumentBytes: 100 });
    const refused = await agent.submit('echo', { text: 'x'.repeat(200) });
    expect([refused.status, problemOf(refused).code]).toEqual([413, 'payload_too_large']);
    expect(problemOf(refused).detail).toMatch(/they are 211 bytes of JSON, expected at most 100/);
    expect((await agent.get(`/v1/calls/${problemOf(refused).callId}`)).body).toMatchObject({ status: 'ended', outcome: 'failed' });
    expect((await agent.submit('echo', { text: 'x' })).status).toBe(202);
  });

  it('answers 503 with Retry-After while a pool is too deep [DX-12]', async () => {
    const { agent } = await one({ queueDepth: 0 });
    const refused = await agent.submit('echo', {});
    expect([refused.status, refused.headers.get('retry-after'), problemOf(refused).code]).toEqual([503, '1', 'unavailable']);
  });

  it('bounds how many calls of a session wait or run, and says when to come again [DX-12]', async () => {
    const { agent } = await one({ concurrency: [{ per: 'session', calls: 2 }] });
    const submit = (sessionId: string) => agent.submit('echo', {}, { sessionId });
    expect([(await submit('s')).status, (await submit('s')).status]).toEqual([202, 202]);
    const third = await submit('s');
    expect([third.status, problemOf(third).code]).toEqual([429, 'quota_exceeded']);
    expect(problemOf(third).detail).toContain('2');
    expect((await submit('other')).status).toBe(202);
  });

  it('bounds how many calls a turn has, and submits none of a larger one [DX-12]', async () => {
    const gateway = await startTestGateway(`limits-${randomUUID()}`, { lists: true });
    opened = [gateway];
    const { agent } = gateway;
    const calls = Array.from({ length: BATCH_LIMITS.calls + 1 }, () => ({ tool: 'echo', arguments: {} }));
    const refused = await agent.request<Problem>('POST', '/v1/batches', { sessionId: 'turn', strategy: { type: 'parallel' }, calls });
    expect([refused.status, refused.body.code]).toEqual([422, 'invalid_request']);
    expect(refused.body.errors).toEqual([expect.objectContaining({ pointer: '/calls' })]);
    expect((await agent.get<{ calls: unknown[] }>('/v1/calls?sessionId=turn')).body.calls).toEqual([]);
  });

  it('applies the limits of the profile where nothing else is said: 20 actions an hour, 500 cents a day [PP-101, PP-102]', async () => {
    const tenant = `limits-${randomUUID()}`;
    const policy = { profile: 'zeroclaw' } as const;
    const agents = { zeroclaw: { policy }, freed: { policy, limits: { actionsPerHour: 21 } } };
    opened = [await startTestGateway(tenant, { agents: { [tenant]: agents } })];
    const [gateway] = opened;
    const write = async (agentId: string) => gateway?.agent.submit('file_write', ACT, { agentId, sessionId: `of-${agentId}` });
    const statuses = async (agentId: string) =>
      (await Promise.all(Array.from({ length: 25 }, () => write(agentId)))).map((it) => it?.status);
    const accepted = async (agentId: string) => (await statuses(agentId)).filter((status) => status === 202).length;
    expect([await accepted('zeroclaw'), await accepted('freed')]).toEqual([20, 21]);
    const quote = await gateway?.agent.request<Quote>('POST', '/v1/calls:quote', {
      tool: 'file_read',
      arguments: { path: 'a' },
      agentId: 'zeroclaw',
    });
    expect(quote?.body.decision?.reasons.find(({ rule }) => rule === 'cost')?.reason).toContain('500');
  });

  it('shows the limits of a call in its quote, which counts nothing [PP-102]', async () => {
    const { agent } = await one({ actionsPerHour: 1, costPerDayCents: 500 });
    const quote = async () => (await agent.request<Quote>('POST', '/v1/calls:quote', { tool: 'file_write', arguments: ACT })).body.decision;
    const rules = (await quote())?.reasons.filter(({ axis }) => axis === 'limits').map(({ rule, effect }) => [rule, effect]);
    expect(rules).toEqual([
      ['cost', 'allow'],
      ['actions', 'allow'],
    ]);
    await quote();
    expect((await agent.submit('file_write', ACT)).status).toBe(202);
    expect(await quote()).toMatchObject({ effect: 'deny' });
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

  it('sends no Redis command for the limits of a call that nothing limits', async () => {
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
      // One that accepts and one that adds a job for each call; and no set of any limit was looked at.
      expect((await scripts()) - before).toBe(20);
      expect(await redis.info('commandstats')).not.toContain('cmdstat_zcount');
    } finally {
      await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
      redis.disconnect();
      await server.stop();
    }
  });
});
