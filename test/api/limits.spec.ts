import { afterEach, describe, expect, it } from '@jest/globals';
import { BATCH_LIMITS, type Limits, type Problem, type Quote } from '#contracts';
import type { Answer } from '../support/agent.js';
import { connectMcp, REVISIONS } from '../support/mcp-clients.js';
import { useTenant, type Tenant, type TenantOptions } from '../support/installation/use-tenant.js';

const ACT = { path: 'a.txt', content: 'x' };

describe('limits of calls', () => {
  let opened: Tenant | undefined;
  const open = async (settings: TenantOptions['settings'] = {}): Promise<Tenant> =>
    (opened = await useTenant('limits', { held: true, settings }));
  const one = (limits: Limits): Promise<Tenant> => open({ limits });
  const problemOf = (answer: Answer) => answer.body as Problem;

  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });

  it('passes exactly 20 of 25 concurrent actions at two gateways, and tells the others when to retry [DX-05, K-25, PP-100, PP-101]', async () => {
    const { agent, other } = await one({ actionsPerHour: 20 });
    const act = (n: number) => (n % 2 === 0 ? agent : other).submit('file_write', ACT, { sessionId: 's' });
    const answers = await Promise.all(Array.from({ length: 25 }, (_unused, n) => act(n)));
    const refused = answers.filter(({ status }) => status !== 202);
    expect(refused).toHaveLength(5);
    for (const answer of refused) {
      expect([answer.status, Number(answer.headers.get('retry-after')) > 3_500]).toEqual([429, true]);
      const problem = problemOf(answer);
      expect(problem).toMatchObject({ code: 'rate_limited', result: { isError: true } });
      expect(problem.detail).toMatch(/^Rate limit exceeded: 20 of 20 actions in the last hour of session s/);
    }
    expect((await agent.submit('echo', {}, { sessionId: 's' })).status).toBe(202);
    expect((await agent.submit('file_write', ACT, { sessionId: 'other' })).status).toBe(202);
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

  it.each(REVISIONS)('tells an MCP client when to retry a limited tool, and runs other tools: revision %s', async (revision) => {
    const windowMs = 3_600_000;
    const { url, keyOf } = await one({ rates: [{ per: 'tool', calls: 1, windowMs, tools: ['echo'] }] });
    const client = await connectMcp(revision, { key: keyOf('main'), urls: [url] });
    expect(await client.call('echo', {})).toMatchObject({ isError: false });
    const refused = await client.call('echo', {});
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^Rate limit exceeded: 1 of 1 calls/) }] });
    const { code, retryAfterMs = 0 } = { ...(refused._meta?.['io.toolyard/error'] as Partial<Problem> | undefined) };
    expect([code, retryAfterMs > windowMs / 2, retryAfterMs <= windowMs]).toEqual(['rate_limited', true, true]);
    expect(await client.call('file_list', {})).toMatchObject({ isError: false });
    await client.close();
  });

  it('states a retry time if waiting helps, and none for the permanent limit of a call tree', async () => {
    const { agent, held } = await one({ treeCalls: 1, treeDepth: 1, concurrency: [{ per: 'session', calls: 3 }] });
    const answerOf = (answer: Answer) => [answer.status, problemOf(answer).code, answer.headers.get('retry-after')];
    for (let n = 0; n < 3; n++) expect((await agent.submit('held', {}, { sessionId: 's' })).status).toBe(202);
    expect(answerOf(await agent.submit('held', {}, { sessionId: 's' }))).toEqual([429, 'quota_exceeded', '1']);
    const { body: root } = await agent.submit('held', {});
    await held.claim(root.id);
    const { body: child } = await agent.submit('held', {}, { parentCallId: root.id });
    expect(answerOf(await agent.submit('held', {}, { parentCallId: root.id }))).toEqual([429, 'quota_exceeded', null]);
    await held.claim(child.id);
    expect(answerOf(await agent.submit('held', {}, { parentCallId: child.id }))).toEqual([429, 'quota_exceeded', null]);
  });

  it('frees a place when a call ends, for every gateway', async () => {
    const { agent: first, other: second, held: calls } = await one({ concurrency: [{ per: 'tenant', calls: 2 }] });
    const held = (await first.submit('held', {})).body;
    await second.submit('held', {});
    const refused = await second.submit('held', {});
    expect([refused.status, problemOf(refused).code]).toEqual([429, 'quota_exceeded']);
    expect(problemOf(refused).detail).toContain('2 of 2 calls that have not ended');
    await calls.run(held.id);
    expect((await second.submit('held', {})).status).toBe(202);
    expect((await first.submit('held', {})).status).toBe(429);
  });

  it('frees the place of a call that was cancelled', async () => {
    const { agent } = await one({ concurrency: [{ per: 'key', calls: 1 }] });
    const held = (await agent.submit('held', {})).body;
    await agent.request('POST', `/v1/calls/${held.id}/cancel`, {});
    expect((await agent.submit('held', {})).status).toBe(202);
  });

  it('answers a repetition like the first submission with full limits, without counting it', async () => {
    const { agent } = await one({ actionsPerHour: 2 });
    const key = { 'idempotency-key': 'k' };
    const first = await agent.submit('file_write', ACT, { sessionId: 's' }, key);
    expect((await agent.submit('file_write', ACT, { sessionId: 's' }, key)).body.id).toBe(first.body.id);
    expect((await agent.submit('file_write', ACT, { sessionId: 's' })).status).toBe(202);
    expect((await agent.submit('file_write', ACT, { sessionId: 's' })).status).toBe(429);
    expect((await agent.submit('file_write', ACT, { sessionId: 's' }, key)).body.id).toBe(first.body.id);
  });

  it('accepts a refused request again with the same Idempotency-Key once there is room', async () => {
    const { agent, held: calls } = await one({ concurrency: [{ per: 'key', calls: 1 }] });
    const held = (await agent.submit('held', {})).body;
    const key = { 'idempotency-key': 'later' };
    expect((await agent.submit('held', { n: 1 }, {}, key)).status).toBe(429);
    await calls.run(held.id);
    expect((await agent.submit('held', { n: 1 }, {}, key)).status).toBe(202);
  });

  it('refuses too large arguments with a clear error, and queues nothing [DX-12]', async () => {
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

  it('limits the open calls of a session, and states when to retry [DX-12]', async () => {
    const { agent } = await one({ concurrency: [{ per: 'session', calls: 2 }] });
    const submit = (sessionId: string) => agent.submit('held', {}, { sessionId });
    expect([(await submit('s')).status, (await submit('s')).status]).toEqual([202, 202]);
    const third = await submit('s');
    expect([third.status, problemOf(third).code]).toEqual([429, 'quota_exceeded']);
    expect(problemOf(third).detail).toContain('2');
    expect((await submit('other')).status).toBe(202);
  });

  it('limits the calls of a turn, and submits none of a larger one [DX-12]', async () => {
    const { agent } = await open();
    const calls = Array.from({ length: BATCH_LIMITS.calls + 1 }, () => ({ tool: 'echo', arguments: {} }));
    const refused = await agent.request<Problem>('POST', '/v1/batches', { sessionId: 'turn', strategy: { type: 'parallel' }, calls });
    expect([refused.status, refused.body.code]).toEqual([422, 'invalid_request']);
    expect(refused.body.errors).toEqual([expect.objectContaining({ pointer: '/calls' })]);
    expect((await agent.get<{ calls: unknown[] }>('/v1/calls?sessionId=turn')).body.calls).toEqual([]);
  });

  it('applies the default limits of the profile: 20 actions an hour, 500 cents a day [PP-101, PP-102]', async () => {
    const policy = { profile: 'zeroclaw' } as const;
    const agents = { zeroclaw: { policy }, freed: { policy, limits: { actionsPerHour: 21 } } };
    const { agent } = await open({ agents });
    const write = async (agentId: string) => agent.submit('file_write', ACT, { agentId, sessionId: `of-${agentId}` });
    const statuses = async (agentId: string) =>
      (await Promise.all(Array.from({ length: 25 }, () => write(agentId)))).map(({ status }) => status);
    const accepted = async (agentId: string) => (await statuses(agentId)).filter((status) => status === 202).length;
    expect([await accepted('zeroclaw'), await accepted('freed')]).toEqual([20, 21]);
    const quote = await agent.request<Quote>('POST', '/v1/calls:quote', {
      tool: 'file_read',
      arguments: { path: 'a' },
      agentId: 'zeroclaw',
    });
    expect(quote.body.decision?.reasons.find(({ rule }) => rule === 'cost')?.reason).toContain('500');
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
});
