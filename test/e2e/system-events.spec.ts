import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { ToolyardClient } from '#client';
import { Notice, NOTICE_TYPES, type CallPage } from '#contracts';
import { Agent, type Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { readSse } from '../support/sse.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const OTHER_KEY = 'key-of-another-tenant-of-the-notices';

describe('what happens beside calls', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  let other: Agent;
  beforeAll(async () => {
    const config = join(mkdtempSync(join(tmpdir(), 'toolyard-config-')), 'toolyard.json');
    const sha256 = createHash('sha256').update(OTHER_KEY).digest('hex');
    const scopes = ['submit', 'read', 'cancel', 'approve', 'admin'];
    writeFileSync(config, JSON.stringify({ keys: [{ id: 'other', sha256, tenant: 'other', scopes }] }));
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

  it('of a session reach only its tenant, in order', async () => {
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

  it('comes as server-sent events, too', async () => {
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
  ])('reaches programs by the client over %s', async (_name, socket) => {
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

  it('reports what an approval grants to its session', async () => {
    const stream = await watch(agent, { types: ['session.put'], sessionId: 'granted' });
    await agent.request('PUT', '/v1/sessions/granted', { posture: { permissionMode: 'prompt' } });
    const { body } = await agent.submit('file_write', { path: 'a', content: 'b' }, { sessionId: 'granted' });
    await agent.request('POST', `/v1/calls/${body.id}/decision`, { decision: 'allow', scope: 'session-tool' });
    await eventually(() => typesOf(stream).length >= 2, 'the grant');
    expect(stream.notices('w').map(({ data }) => data)).toEqual([{ changed: ['posture'] }, { changed: ['grants'] }]);
    stream.close();
  });

  it('to a session that is called like a call is not taken for that call', async () => {
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

  it('of a worker reach every tenant, once: started, draining, gone, lost', async () => {
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
