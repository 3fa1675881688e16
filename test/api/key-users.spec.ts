import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, Principal, Problem, Session } from '#contracts';
import type { Agent, Answer } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const KEYS = {
  plain: {},
  alice: { user: 'alice' },
  bob: { user: 'bob' },
  app: { users: ['al*', '*@acme.example'] },
};

describe('the user of a call', () => {
  let tenant: Tenant;
  beforeAll(async () => void (tenant = await useTenant('key-users', { held: true, keys: KEYS })));
  afterAll(() => tenant?.close());

  const as = (name: string) => tenant.agentOf(name);
  const echo = (more: object = {}) => ({ tool: 'echo', arguments: {}, ...more });
  const codeOf = ({ status, body }: Answer) => [status, (body as Partial<Problem>).code];
  const FORBIDDEN = [403, 'forbidden'];

  /** Every way of making a call for a user; each gives status and code of the answer. */
  const WAYS: readonly (readonly [string, (agent: Agent, userId: string) => Promise<unknown>])[] = [
    ['a call', async (agent, userId) => codeOf(await agent.request('POST', '/v1/calls', echo({ userId })))],
    ['a quote', async (agent, userId) => codeOf(await agent.request('POST', '/v1/calls:quote', echo({ userId })))],
    ['a batch', async (agent, userId) => codeOf(await agent.request('POST', '/v1/batches', { userId, calls: [echo()] }))],
    [
      'a replay of a call of that user',
      async (agent, userId) => {
        const { body } = await tenant.agent.submit('echo', {}, { userId });
        return codeOf(await agent.request('POST', `/v1/calls/${body.id}/replay`, {}));
      },
    ],
    [
      'a child of a call of that user',
      async (agent, userId) => {
        const { body } = await tenant.agent.submit('held', {}, { userId });
        await tenant.held.claim(body.id);
        return codeOf(await agent.request('POST', '/v1/calls', echo({ parentCallId: body.id })));
      },
    ],
    [
      'a session of that user',
      async (agent, userId) => {
        const sessionId = `of-${userId}`;
        await tenant.agent.request('PUT', `/v1/sessions/${sessionId}`, { userId });
        return codeOf(await agent.request('POST', '/v1/calls', echo({ sessionId, userId })));
      },
    ],
  ];

  it.each(WAYS)('refuses a user that a key may not act for: %s gets 403', async (_what, way) => {
    expect(await way(as('plain'), 'alice')).toEqual(FORBIDDEN);
    expect(await way(as('bob'), 'alice')).toEqual(FORBIDDEN);
    expect(await way(as('app'), 'bob')).toEqual(FORBIDDEN);
  });

  it('uses the user of the key, or one that its globs match, and shows it with the call', async () => {
    const user = async (name: string, more: object = {}) => {
      const { status, body } = await as(name).request('POST', '/v1/calls', echo(more));
      return [status, body.userId];
    };
    expect(await user('alice')).toEqual([202, 'alice']);
    expect(await user('alice', { userId: 'alice' })).toEqual([202, 'alice']);
    expect(await user('plain')).toEqual([202, undefined]);
    expect(await user('app')).toEqual([202, undefined]);
    expect(await user('app', { userId: 'eve@acme.example' })).toEqual([202, 'eve@acme.example']);
    const batch = await as('app').request<Batch>('POST', '/v1/batches', { userId: 'alice', calls: [echo()] });
    expect([batch.status, batch.body.userId]).toEqual([202, 'alice']);
    expect((await as('bob').get<Principal>('/v1/whoami')).body).toMatchObject({ userId: 'bob' });
  });

  it('uses the user of the session for a key that may act for it, and none for another key', async () => {
    const put = await tenant.agent.request<Session>('PUT', '/v1/sessions/alices', { userId: 'alice' });
    expect([put.status, put.body.userId]).toEqual([200, 'alice']);
    const user = async (name: string) => (await as(name).submit('echo', {}, { sessionId: 'alices' })).body.userId;
    expect(await user('app')).toBe('alice');
    expect(await user('plain')).toBeUndefined();
    const intruder = await as('bob').request('POST', '/v1/calls', echo({ sessionId: 'alices' }));
    expect(codeOf(intruder)).toEqual(FORBIDDEN);
    expect(JSON.stringify(intruder.body)).not.toContain('alice ');
    await tenant.agent.request('PUT', '/v1/sessions/alices', { userId: null });
    expect(await user('app')).toBeUndefined();
    expect(await user('bob')).toBe('bob');
  });

  it('refuses a call without a user by a key that acts for other users only', async () => {
    await tenant.agent.request('PUT', '/v1/sessions/bobs', { userId: 'bob' });
    const calls = [echo()];
    expect(codeOf(await as('app').request('POST', '/v1/calls', echo({ sessionId: 'bobs' })))).toEqual(FORBIDDEN);
    expect(codeOf(await as('app').request('POST', '/v1/batches', { sessionId: 'bobs', calls }))).toEqual(FORBIDDEN);
    expect((await as('plain').submit('echo', {}, { sessionId: 'bobs' })).status).toBe(202);
  });

  it('records the user with calls of a batch that never ran', async () => {
    await tenant.agent.request('PUT', '/v1/sessions/recorded', { userId: 'alice' });
    const body = { sessionId: 'recorded', onFailure: 'abort', calls: [echo(), echo({ tool: 'no_such_tool' })] };
    const { body: batch } = await as('app').request<Batch>('POST', '/v1/batches', body, { prefer: 'wait=60' });
    const calls = await Promise.all(batch.results.map(({ callId = '' }) => as('app').get(`/v1/calls/${callId}`)));
    expect(calls.map(({ body: call }) => [call.userId, call.attempt])).toEqual([
      ['alice', 0],
      ['alice', 0],
    ]);
  });

  it('separates submissions of users: a repeated Idempotency-Key of another user finds no first call', async () => {
    const submit = (name: string) => as(name).request('POST', '/v1/calls', echo(), { 'idempotency-key': 'the-same' });
    const first = await submit('alice');
    expect([(await submit('alice')).body.id, first.status]).toEqual([first.body.id, 202]);
    expect((await submit('bob')).status).toBe(422);
    expect((await submit('app')).status).toBe(422);
  });
});
