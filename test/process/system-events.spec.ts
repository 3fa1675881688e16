import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { ToolyardClient } from '#client';
import { AdminEvent, Notice, NOTICE_TYPES, type ActPage, type CallPage, type IssuedKey, type Problem, type Schedule } from '#contracts';
import { Agent, type Stream } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { readSse } from '../support/sse.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const OTHER_KEY = 'key-of-another-tenant-of-the-notices';

describe('what happens beside calls', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  let other: Agent;
  const config = join(mkdtempSync(join(tmpdir(), 'toolyard-config-')), 'toolyard.json');
  const sha256 = createHash('sha256').update(OTHER_KEY).digest('hex');
  const scopes = ['submit', 'read', 'cancel', 'approve', 'admin'];
  const save = (more: object = {}) =>
    writeFileSync(config, JSON.stringify({ keys: [{ id: 'other', sha256, tenant: 'other', scopes, person: 'grace' }], ...more }));
  beforeAll(async () => {
    save();
    toolyard = await startTestCluster({ lists: true, gateways: 2, env: { TOOLYARD_CONFIG: config } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    other = new Agent(toolyard.gateways[1]?.url ?? '', OTHER_KEY);
  });
  afterAll(() => toolyard.close());

  const watch = async (by: Agent, filter: object, cursor?: string): Promise<Stream> => {
    const stream = await by.stream();
    stream.send({ op: 'subscribe', id: 'w', filter, ...(cursor === undefined ? {} : { cursor }) });
    await stream.frame('subscribed', 'w');
    return stream;
  };
  const typesOf = (stream: Stream) => stream.notices('w').map(({ type }) => type);
  const types = [...NOTICE_TYPES];

  it('sends events of a session to its tenant only, in order', async () => {
    const [mine, theirs, narrow, calls] = [
      await watch(agent, { types }),
      await watch(other, { types }),
      await watch(agent, { types, sessionId: 'changed' }),
      await watch(agent, {}),
    ];
    const { cursor } = await mine.frame('subscribed');
    const at = (by: Agent, id: string, path: string, body: object, method = 'POST') =>
      by.request(method, `/v1/sessions/${id}${path}`, body);
    for (const by of [agent, other])
      await at(by, 'changed', '', { posture: { autonomy: 'supervised' }, strategy: { type: 'sequential' } }, 'PUT');
    await at(agent, 'elsewhere', '/steer', { message: 'over here' });
    await at(agent, 'changed', '/steer', { message: 'a secret word' });
    await at(agent, 'changed', '/cancel', {});
    await agent.request('DELETE', '/v1/sessions/changed');

    const story = ['session.put', 'session.steered', 'session.cancelled', 'session.deleted'];
    await eventually(() => typesOf(narrow).length >= 4, 'the story of the session');
    expect(narrow.notices('w').map((event) => Notice.parse(event))).toEqual(narrow.notices('w'));
    expect(narrow.notices('w')).toMatchObject([
      { type: story[0], subject: 'session/changed', tenantid: 'default', sessionid: 'changed', data: { changed: ['posture', 'strategy'] } },
      { type: story[1], data: { messageId: expect.any(String), waiting: 1 } },
      { type: story[2], actor: 'apikey:bootstrap', data: { calls: 0, batches: 0 } },
      { type: story[3], source: expect.stringMatching(/^\/gateway\//), data: {} },
    ]);
    expect(JSON.stringify(narrow.frames)).not.toContain('a secret word');
    await eventually(() => typesOf(mine).length >= 5, 'everything that the tenant may see');
    expect(mine.notices('w').every((event) => event.tenantid === 'default')).toBe(true);

    await other.run('echo', {});
    await eventually(() => typesOf(theirs).length >= 1, "the other tenant's own");
    expect(theirs.notices('w').map(({ tenantid, actor }) => [tenantid, actor])).toEqual([['other', 'apikey:other']]);
    await agent.run('echo', {});
    await eventually(() => calls.events('w').some(({ event }) => event.type === 'call.end'), 'an End');
    expect(typesOf(calls)).toEqual([]);

    const again = await watch(agent, { types }, cursor);
    await eventually(() => typesOf(again).length >= 5, 'the earlier events');
    expect(new Set(again.notices('w').map(({ id }) => id))).toEqual(new Set(mine.notices('w').map(({ id }) => id)));
    for (const stream of [mine, theirs, narrow, calls, again]) stream.close();
  });

  it('sends system events as server-sent events, too', async () => {
    const stream = await watch(agent, { types });
    const { cursor } = await stream.frame('subscribed');
    stream.close();
    await agent.request('PUT', '/v1/sessions/sent', { tools: ['echo'] });
    const url = `${agent.url}/v1/events?types=session.put,session.deleted`;
    const [first] = await readSse(url, { lastEventId: cursor, enough: (messages) => messages.length > 0 });
    expect(first).toMatchObject({ event: 'session.put' });
    expect(Notice.parse(JSON.parse(first?.data ?? ''))).toMatchObject({ subject: 'session/sent', data: { changed: ['tools'] } });
  });

  it.each([
    ['a WebSocket', WebSocket],
    ['server-sent events', false as const],
  ])('sends system events to programs by the client over %s', async (_name, socket) => {
    const client = new ToolyardClient({ baseUrl: agent.url, apiKey: agent.key, WebSocket: socket });
    let live = false;
    const onState = ({ state }: { state: string }) => void (live ||= state === 'live');
    const watching = client.watch({ types: ['session.put', 'call.end'], sessionId: 'by-client' }, { onState });
    await eventually(() => live, 'the watch to be live');
    await client.sessions.put('by-client', { strategy: { type: 'parallel', serializeSideEffects: true } });
    await agent.run('echo', {}, { sessionId: 'by-client' });
    expect((await watching.next()).value).toMatchObject({
      kind: 'notice',
      notice: { type: 'session.put', data: { changed: ['strategy'] } },
    });
    expect((await watching.next()).value).toMatchObject({ kind: 'event', event: { type: 'call.end' } });
    watching.close();
  });

  it('reports the grants of an approval to its session', async () => {
    const stream = await watch(agent, { types: ['session.put'], sessionId: 'granted' });
    await agent.request('PUT', '/v1/sessions/granted', { posture: { permissionMode: 'prompt' } });
    const { body } = await agent.submit('file_write', { path: 'a', content: 'b' }, { sessionId: 'granted' });
    await agent.request('POST', `/v1/calls/${body.id}/decision`, { decision: 'allow', scope: 'session-tool' });
    await eventually(() => typesOf(stream).length >= 2, 'the grant');
    expect(stream.notices('w').map(({ data }) => data)).toEqual([{ changed: ['posture'] }, { changed: ['grants'] }]);
    stream.close();
  });

  it('separates events of a session named like a call from that call', async () => {
    const call = await other.run('echo', { n: 1 });
    const watching = await watch(other, { callId: call.id });
    await agent.request('PUT', `/v1/sessions/${call.id}`, { tools: [] });
    await other.request('PUT', `/v1/sessions/${call.id}`, { tools: [] });
    expect(await other.ended(call.id)).toEqual(call);
    expect((await other.events(call.id)).map(({ type }) => type)).toEqual(['call.submitted', 'call.start', 'call.end']);
    const { body } = await other.get<CallPage>('/v1/calls?limit=200');
    expect(body.calls.filter(({ id }) => id === call.id)).toHaveLength(1);
    expect(watching.notices('w')).toEqual([]);
    watching.close();
  });

  describe('an administrative act', () => {
    const GITHUB = 'ghp_1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y7u8i';
    const acts = async (query = '', by = other) => {
      const { status, body } = await by.get<ActPage>(`/v1/audit${query}`);
      expect([status, body.behind]).toEqual([200, undefined]);
      return body.acts;
    };
    const done = async (query = '') => (await acts(query)).map(({ type, data }) => [type, data.target]);

    it('lists an administrative act at once, with who, what, when, before and after, and without secrets', async () => {
      const watching = await watch(other, {});
      const { body: key } = await other.request<IssuedKey>('POST', '/v1/keys', { name: 'ci', scopes: ['read'] });
      await other.request('POST', `/v1/keys/${key.id}/rotate`, {});
      await other.request('DELETE', `/v1/keys/${key.id}`);
      await other.request('PUT', '/v1/sessions/audited', { posture: { permissionMode: 'prompt' } });
      const { body: call } = await other.submit('file_write', { path: 'a', content: 'b' }, { sessionId: 'audited' });
      await other.request('POST', `/v1/calls/${call.id}/decision`, { decision: 'allow', scope: 'session-tool' });
      await other.request('DELETE', '/v1/sessions/audited');
      const source = { name: 'far', kind: 'mcp', url: 'https://tools.example.com/mcp' };
      await other.request('POST', '/v1/sources', source);
      await other.request('DELETE', '/v1/sources/far');
      const scheduled = { at: '2999-01-01T00:00:00Z', call: { tool: 'echo', arguments: { token: GITHUB } } };
      const { body: schedule } = await other.request<Schedule>('POST', '/v1/schedules', scheduled);
      for (const what of ['pause', 'resume']) await other.request('POST', `/v1/schedules/${schedule.id}/${what}`);
      await other.request('DELETE', `/v1/schedules/${schedule.id}`);
      const story = (await done('?limit=200')).reverse();
      expect(story.slice(story.findIndex(([, target]) => target === key.id))).toEqual([
        ...['created', 'rotated', 'revoked'].map((what) => [`admin.key_${what}`, key.id]),
        ...['session_changed', 'grant_made', 'session_deleted'].map((what) => [`admin.${what}`, 'audited']),
        ...['source_added', 'source_removed'].map((what) => [`admin.${what}`, 'far']),
        ...['created', 'paused', 'resumed', 'deleted'].map((what) => [`admin.schedule_${what}`, schedule.id]),
      ]);
      const [grant, posture] = await acts('?target=audited&type=admin.session_changed,admin.grant_made');
      expect(posture).toMatchObject({ actor: 'apikey:other', tenantid: 'other', data: { people: ['grace'], before: { posture: {} } } });
      expect(posture?.data.after).toEqual({ posture: { permissionMode: 'prompt' } });
      expect(AdminEvent.parse(grant)).toMatchObject({ data: { after: { grants: { trustedTools: ['file_write'] } } } });
      const all = JSON.stringify(await acts('?limit=200'));
      for (const secret of [key.key, 'sha256', GITHUB]) expect(all).not.toContain(secret);
      await other.run('echo', {});
      await eventually(() => watching.events('w').some(({ event }) => event.type === 'call.end'), 'an End');
      expect(JSON.stringify(watching.frames)).not.toContain('admin.');
      watching.close();
    });

    it('finds an administrative act by its filters, page by page, only with the scope admin of its tenant', async () => {
      const { body: reader } = await other.request<IssuedKey>('POST', '/v1/keys', { name: 'reader', scopes: ['read'] });
      const all = await acts('?limit=200');
      const paged: AdminEvent[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const { body }: { body: ActPage } = await other.get<ActPage>(`/v1/audit?limit=5${cursor && `&cursor=${cursor}`}`);
        paged.push(...body.acts);
        cursor = body.nextCursor;
      }
      expect(paged).toEqual(all);
      expect(await done(`?type=admin.key_created&target=${reader.id}&keyId=other`)).toEqual([['admin.key_created', reader.id]]);
      expect(await done(`?until=${all.at(-1)?.time ?? ''}`)).toHaveLength(1);
      expect(await done('?keyId=bootstrap')).toEqual([]);
      expect((await acts('?limit=200', agent)).every(({ tenantid }) => tenantid === 'default')).toBe(true);
      expect((await new Agent(other.url, reader.key).get<Problem>('/v1/audit')).body.code).toBe('forbidden');
      for (const query of ['types=admin.key_created', 'types=admin'])
        expect((await other.get<Problem>(`/v1/events?${query}`)).body.code).toBe('invalid_request');
      for (const query of ['cursor=rubbish', 'type=admin.nothing', 'limit=0', 'who=me'])
        expect((await other.get<Problem>(`/v1/audit?${query}`)).body.code).toBe('invalid_request');
    });

    it('counts an administrative act that changes the config file for each tenant that it is about, as does a legal hold', async () => {
      save({ tenants: { other: { retention: { legalHold: true } } } });
      const held = await eventually(async () => {
        const found = await acts('?type=admin.config_reloaded,admin.hold_set');
        return found.length === 4 ? found : undefined;
      }, 'both gateways to take the file over');
      expect(held.every(({ actor, data }) => actor === 'system:gateway' && data.target === config)).toBe(true);
      expect(held.find(({ type }) => type === 'admin.config_reloaded')?.data.after).toMatchObject({ changed: ['retention'] });
      save();
      await eventually(async () => (await acts('?type=admin.hold_lifted')).length === 2, 'the hold to be lifted');
      expect(await acts('?type=admin.config_reloaded', agent)).toEqual([]);
    });

    it('shows an administrative act in the command line tool, and in an export that asks for it', async () => {
      const env = { TOOLYARD_API_KEY: OTHER_KEY };
      const shown = await startCli(['audit', '--type', 'source_added', '--by', 'other'], { url: other.url, env }).ended();
      expect([shown.code, shown.out]).toEqual([0, expect.stringMatching(/^\S+Z +source_added +far +by other \(grace\) +\{"name":"far"/)]);
      const { out } = await startCli(['--json', 'export', '--acts'], { url: other.url, env }).ended();
      const lines = out.trim().split('\n');
      const exported = lines.flatMap((line) => (line.includes('"type":"admin.') ? [AdminEvent.parse(JSON.parse(line))] : []));
      expect(exported).toEqual(await acts('?limit=200'));
      const without = await other.get<string>('/v1/calls:export');
      expect([without.status, without.body]).toEqual([200, expect.not.stringContaining('admin.')]);
    });
  });

  it('sends events of a worker to every tenant, once: started, draining, gone, lost', async () => {
    const [mine, theirs] = [await watch(agent, { types }), await watch(other, { types })];
    const of = (stream: Stream, id: string) =>
      stream.notices('w').flatMap(({ subject, type, data }) => (subject === `worker/${id}` ? [[type, data]] : []));
    const polite = await toolyard.worker({ WORKER_ID: 'polite', WORKER_POOLS: 'net', WORKER_CONCURRENCY: 'net=3' });
    const killed = await toolyard.worker({ WORKER_ID: 'killed', WORKER_POOLS: 'net' });
    polite.signal('SIGTERM');
    killed.signal('SIGKILL');
    for (const stream of [mine, theirs]) {
      await eventually(() => of(stream, 'polite').length >= 3 && of(stream, 'killed').length >= 2, 'the end of both workers');
      expect(of(stream, 'polite')).toEqual([
        ['worker.started', { pools: [{ pool: 'net', slots: 3 }] }],
        ['worker.draining', { running: 0 }],
        ['worker.gone', { how: 'stopped' }],
      ]);
      expect(of(stream, 'killed')).toEqual([
        ['worker.started', { pools: [{ pool: 'net', slots: 32 }] }],
        ['worker.gone', { how: 'lost' }],
      ]);
      expect(stream.notices('w').every((event) => event.tenantid === undefined)).toBe(true);
      stream.close();
    }
  });
});
