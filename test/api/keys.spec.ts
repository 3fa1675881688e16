import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import {
  SCOPES,
  type ApiKeyPage,
  type Call,
  type CallDebugLog,
  type IssuedKey,
  type Principal,
  type Problem,
  type SavedView,
} from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const NARROW = {
  scopes: ['read', 'submit', 'admin'],
  tools: ['file_*'],
  agent: 'bot',
  ratePerMinute: 500,
  expiresAt: '2999-01-01T00:00:00Z',
} as const;
const KEYS = {
  operator: { scopes: [...SCOPES], agents: ['*'] },
  narrow: { ...NARROW, scopes: [...NARROW.scopes], tools: [...NARROW.tools] },
  reader: { scopes: ['read' as const] },
};

let tenant: Tenant;
let rival: Tenant;
beforeAll(async () => {
  tenant = await useTenant('keys', { keys: KEYS, settings: { approvals: { fourEyes: true } } });
  rival = await useTenant('keys-rival');
});
afterAll(async () => {
  await tenant?.close();
  await rival?.close();
});

const urls = () => [tenant.url, tenant.otherUrl];
const as = (key: string, at = 0) => new Agent(urls()[at] ?? '', key);
const by = (id: string, at = 0) => (id === 'rival' ? rival.agent : tenant.agentOf(id, urls()[at]));
const create = <T = IssuedKey>(body: object, agent = by('operator')) => agent.request<T>('POST', '/v1/keys', { name: 'test', ...body });
const made = async (body: object = {}, agent = by('operator')): Promise<IssuedKey> => {
  const { status, body: key } = await create(body, agent);
  expect([status, key]).toEqual([201, expect.objectContaining({ status: 'active' })]);
  return key;
};
const rotate = <T = IssuedKey>(id: string, body: object, agent = by('operator')) => agent.request<T>('POST', `/v1/keys/${id}/rotate`, body);
const revoke = (id: string, agent = by('operator')) => agent.request<Problem>('DELETE', `/v1/keys/${id}`);
const list = async (agent = by('operator')) => (await agent.get<ApiKeyPage>('/v1/keys')).body.keys;
const whoami = (key: string, at = 0) => as(key, at).get<Principal & Problem>('/v1/whoami');

describe('an API key that is made over HTTP', () => {
  it('accepts a new API key at once on every gateway, until it is revoked', async () => {
    const { id, key } = await made({ scopes: ['read'], name: 'dashboards' });
    for (const at of [1, 0]) expect((await whoami(key, at)).body).toMatchObject({ keyId: id, tenantId: tenant.tenantId, scopes: ['read'] });
    const stream = await as(key, 1).stream();
    expect((await revoke(id)).status).toBe(204);
    expect((await whoami(key)).status).toBe(401);
    await eventually(() => stream.closed, 'the socket of the revoked key to be closed');
    expect((await whoami(key, 1)).status).toBe(401);
    expect((await revoke(id, by('operator', 1))).status).toBe(204);
    expect((await rotate<Problem>(id, {})).body.code).toBe('conflict');
    expect(await list()).toContainEqual(expect.objectContaining({ id, status: 'revoked', revokedBy: tenant.keyId('operator') }));
  });

  it('reads the debug log of a call only with the scope admin, and only in its tenant', async () => {
    const call = await by('operator').accepted('echo', { text: 'x' });
    const debug = (id: string) => by(id).get<CallDebugLog & Problem>(`/v1/calls/${call.id}/debug`);
    const { status, body } = await debug('operator');
    expect([status, body.callId, body.entries.map(({ step }) => step)]).toEqual([
      200,
      call.id,
      expect.arrayContaining(['policy', 'dispatch']),
    ]);
    expect((await by('reader').get(`/v1/calls/${call.id}`)).status).toBe(200);
    const refused = await debug('reader');
    expect([refused.status, refused.body.code, 'entries' in refused.body]).toEqual([403, 'forbidden', false]);
    expect((await debug('rival')).status).toBe(404);
  });

  it('shows in the debug log to which queue the decision sent a call', async () => {
    const dispatched = async (posture: object) => {
      expect((await by('operator').request('PUT', '/v1/sessions/sent', { posture })).status).toBe(200);
      const call = { tool: 'shell', arguments: { command: 'touch a' }, sessionId: 'sent' };
      const { body: submitted } = await by('operator').request<Partial<Call> & Pick<Problem, 'callId'>>('POST', '/v1/calls', call);
      const { body } = await by('operator').get<CallDebugLog>(`/v1/calls/${submitted.id ?? submitted.callId}/debug`);
      return body.entries.find(({ step }) => step === 'dispatch')?.text;
    };
    expect(await dispatched({ autonomy: 'full', permissionMode: 'danger-full-access' })).toMatch(/^stored for the queue /);
    expect(await dispatched({ autonomy: 'supervised' })).toMatch(/^stored for approvers; once approved for the queue /);
    expect(await dispatched({ autonomy: 'read_only' })).toBe('stored for the log only: the decision ends it');
  });

  it('shows in the debug log how long the last stages of a submission took', async () => {
    const call = await by('operator').accepted('echo', { text: 'x'.repeat(1_000_000) });
    const { body } = await by('operator').get<CallDebugLog>(`/v1/calls/${call.id}/debug`);
    const stages = new Map(body.entries.flatMap(({ step, text, tookMs = 0 }) => (step === 'stage' ? [[text, tookMs] as const] : [])));
    expect([...stages.keys()].slice(-3)).toEqual(['compose', 'watch', 'accept']);
    expect(stages.get('compose')).toBeGreaterThan(0);
    expect(stages.get('accept')).toBeGreaterThan(0);
  });

  it('accepts the earlier text of an API key during the overlap of a rotation, with the same id', async () => {
    const { id, key } = await made();
    const { body: second } = await rotate(id, { overlapMs: 3_600_000 });
    expect(second).toMatchObject({ id, overlapUntil: expect.any(String) });
    for (const text of [key, second.key]) for (const at of [0, 1]) expect((await whoami(text, at)).body.keyId).toBe(id);
    const { body: third } = await rotate(id, { overlapMs: 0 });
    expect(third.overlapUntil).toBeUndefined();
    for (const at of [0, 1]) {
      expect((await whoami(third.key, at)).body.keyId).toBe(id);
      for (const text of [key, second.key]) expect((await whoami(text, at)).status).toBe(401);
    }
  });

  it('lists an API key with its last use, beside the unchangeable keys of the config file', async () => {
    const { id, key } = await made();
    expect((await list()).find((it) => it.id === id)).not.toHaveProperty('lastUsedAt');
    await whoami(key);
    const found = await list();
    expect(found.find((it) => it.id === id)?.lastUsedAt).toMatch(/^\d{4}-.*Z$/);
    expect(found.filter(({ origin }) => origin === 'config').map((it) => it.id)).toEqual(
      ['main', ...Object.keys(KEYS)].map((name) => tenant.keyId(name)),
    );
    expect((await revoke(tenant.keyId('reader'))).body.code).toBe('conflict');
    expect((await rotate<Problem>(tenant.keyId('reader'), {})).body.code).toBe('conflict');
  });

  it('refuses an API key every negated tool, and also the keys that it creates', async () => {
    const tools = ['!shell', '!file_write'];
    const { key } = await made({ scopes: ['read', 'submit', 'admin'], tools });
    const calls: [tool: string, args: object][] = [
      ['shell', { command: 'ls' }],
      ['file_write', { path: 'a', content: 'x' }],
    ];
    for (const [tool, args] of calls) {
      const { status, body } = await as(key).request<Problem>('POST', '/v1/calls', { tool, arguments: args });
      expect([tool, status, body.code]).toEqual([tool, 403, 'policy_denied']);
    }
    expect((await as(key).submit('echo', { text: 'x' })).status).toBe(202);
    for (const wider of [['!shell'], ['*'], ['shell', 'file_write']])
      expect((await create<Problem>({ scopes: ['read'], tools: wider }, as(key))).body.errors?.[0]?.pointer).toBe('/tools');
    expect((await create({ scopes: ['read'], tools: ['echo', ...tools] }, as(key))).status).toBe(201);
  });

  it('hides an API key from another tenant and from keys without the scope admin', async () => {
    const { id } = await made();
    expect((await list(by('rival'))).map((it) => it.id)).toEqual([rival.keyId('main')]);
    for (const answer of [
      await revoke(id, by('rival')),
      await rotate<Problem>(id, {}, by('rival')),
      await by('rival').get<Problem>(`/v1/keys/${id}`),
    ])
      expect([answer.status, answer.body.code]).toEqual([404, 'resource_not_found']);
    const reader = by('reader');
    for (const answer of [await revoke(id, reader), await rotate<Problem>(id, {}, reader), await create<Problem>({}, reader)])
      expect(answer.body.code).toBe('forbidden');
  });
});

describe('a key never makes one that may do more than itself', () => {
  it.each<[object, string]>([
    [{ scopes: ['read', 'approve'] }, '/scopes'],
    [{ scopes: ['operate'] }, '/scopes'],
    [{ tools: ['*'] }, '/tools'],
    [{ agent: 'other' }, '/agent'],
    [{ agents: ['*'] }, '/agents'],
    [{ user: 'alice' }, '/user'],
    [{ users: ['*'] }, '/users'],
    [{ ratePerMinute: 501 }, '/ratePerMinute'],
    [{ expiresAt: '2999-01-01T00:00:01Z' }, '/expiresAt'],
  ])('refuses to make a key that may do more than the one that makes it: %j', async (more, pointer) => {
    const { status, body } = await create<Problem>({ scopes: ['read'], ...more }, by('narrow'));
    expect([status, body.code, body.errors?.[0]?.pointer]).toEqual([403, 'forbidden', pointer]);
  });

  it('limits a created key to the default rate of keys', async () => {
    const { status, body } = await create<Problem>({ scopes: ['read'], ratePerMinute: 60_001 });
    expect([status, body.errors?.[0]?.message]).toEqual([403, 'expected at most 60000']);
    expect((await create({ scopes: ['read'], ratePerMinute: 60_000 })).status).toBe(201);
  });

  it('copies the limits of a key to a key that it creates without limits', async () => {
    const { key } = await made({ scopes: ['read'] }, by('narrow'));
    const { scopes: _, agent, ...bounds } = NARROW;
    expect((await whoami(key)).body).toMatchObject({ ...bounds, agentId: agent });
  });

  it('refuses to rotate a more powerful key, whose text would be disclosed', async () => {
    const { id } = await made({ scopes: ['approve'] });
    expect((await rotate<Problem>(id, {}, by('narrow'))).body.code).toBe('forbidden');
    expect((await revoke(id, by('narrow'))).status).toBe(204);
  });

  it('counts a made key under four eyes as who made it, also when it is revoked', async () => {
    const { id, key } = await made({ scopes: ['submit', 'read'] });
    await by('operator').request('PUT', '/v1/sessions/issued', { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } });
    const { body: call } = await as(key).submit('shell', { command: 'touch x' }, { sessionId: 'issued' });
    expect(call.status).toBe('waiting_approval');
    const decide = () => by('operator').request<Problem>('POST', `/v1/calls/${call.id}/decision`, { decision: 'allow' });
    expect((await decide()).body.code).toBe('forbidden');
    await revoke(id);
    expect((await decide()).body.code).toBe('forbidden');
  });
});

it('makes, lists, rotates and revokes keys from the command line', async () => {
  const cli = (...words: string[]) => tenant.cli(['keys', ...words]).ended();
  const { code, out, err } = await cli('create', 'nightly', '--scope', 'read', '--expires', '30d');
  expect([code, out]).toEqual([0, expect.stringMatching(/^sk-toolyard-[\w-]{43}\n$/)]);
  const { keyId } = (await whoami(out.trim())).body;
  expect(err).toContain(keyId);
  expect((await cli('list')).out).toMatch(new RegExp(`${keyId} +nightly +active +read`));
  const rotated = await cli('rotate', keyId, '--overlap', '0s');
  expect((await whoami(rotated.out.trim())).body.keyId).toBe(keyId);
  expect((await cli('revoke', keyId)).code).toBe(0);
  expect((await whoami(rotated.out.trim())).status).toBe(401);
});

describe('saved views of a key', () => {
  const views = async (agent: Agent) => (await agent.get<{ views: SavedView[] }>('/v1/views')).body.views;

  it('stores views of a key for every gateway, latest first, hidden from other keys and tenants', async () => {
    const put = (name: string, search: object, at = 0) =>
      by('operator', at).request('PUT', `/v1/views/${encodeURIComponent(name)}`, { search });
    expect((await put('failed builds', { result: 'error' })).status).toBe(200);
    await put('mine/all', { agentId: 'coder' }, 1);
    await put('failed builds', { result: 'error', since: '24h' }, 1);
    expect(await views(by('operator'))).toMatchObject([
      { name: 'failed builds', search: { result: 'error', since: '24h' } },
      { name: 'mine/all', search: { agentId: 'coder' } },
    ]);
    for (const other of ['reader', 'rival']) expect(await views(by(other))).toEqual([]);
    expect((await by('operator', 1).request('DELETE', '/v1/views/mine%2Fall')).status).toBe(204);
    expect((await views(by('operator'))).map(({ name }) => name)).toEqual(['failed builds']);
  });

  it('saves, replaces, lists and deletes views of a key by the client', async () => {
    const client = new ToolyardClient({ baseUrl: tenant.url, apiKey: tenant.keyOf('narrow') });
    const { name, search } = await client.views.put('mine/all ü', { agentId: 'coder' });
    expect([name, search]).toEqual(['mine/all ü', { agentId: 'coder' }]);
    await client.views.put('failed', { result: 'error' });
    await client.views.put('mine/all ü', { since: '24h' });
    const saved = async () => (await client.views.list()).map((view) => [view.name, view.search]);
    expect(await saved()).toEqual([
      ['mine/all ü', { since: '24h' }],
      ['failed', { result: 'error' }],
    ]);
    await client.views.delete('mine/all ü');
    expect(await saved()).toEqual([['failed', { result: 'error' }]]);
    await expect(client.views.put('x'.repeat(61), {})).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('refuses the 51st view of a key and too long names and fields, and replaces a stored view', async () => {
    const put = (name: string, search: object = {}) => by('reader').request<Problem>('PUT', `/v1/views/${name}`, { search });
    const made = await Promise.all(Array.from({ length: 60 }, (_, n) => put(`view-${n}`)));
    expect(made.filter(({ status }) => status === 200)).toHaveLength(50);
    const refused = made.filter(({ status }) => status !== 200).map(({ body }) => body.code);
    expect(new Set(refused)).toEqual(new Set(['quota_exceeded']));
    const [first] = await views(by('reader'));
    expect((await put(first?.name ?? '', { tool: 'shell' })).status).toBe(200);
    for (const wrong of [put('x'.repeat(61)), put('x', { q: 'x'.repeat(1_001) })]) expect((await wrong).body.code).toBe('invalid_request');
  });
});
