import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive } from '#archive';
import type { ActPage, BulkResult, Erasure, Problem, TenantRetention } from '#contracts';
import { ContentKeyStore, ErasureStore, type HistoryDatabase } from '#history';
import { createRedis, partitionName, type RedisConnection } from '#redis';
import { Eraser, PartitionArchiver } from '#sealing';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { openTestDatabase } from '../support/postgres.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const PARTITIONS = 16;
const [ADMIN, READER, STRANGER, PLAIN] = [
  'acme-admin-key-0001',
  'acme-reader-key-001',
  'other-admin-key-001',
  'plain-admin-key-001',
] as const;
const SCOPES = ['submit', 'read', 'cancel', 'admin'];
const key = (id: string, text: string, tenant: string, scopes = SCOPES) => ({ id, key: text, tenant, scopes });
const config = (hold: Partial<TenantRetention> = {}) =>
  JSON.stringify({
    keys: [
      { ...key('admin', ADMIN, 'acme'), agents: ['bea'] },
      key('reader', READER, 'acme', ['submit', 'read']),
      key('stranger', STRANGER, 'other'),
      key('plain', PLAIN, 'plain'),
    ],
    tenants: { acme: { retention: { erasable: true, ...hold } }, other: { retention: { erasable: true } } },
  });

describe('erasing calls over HTTP and with the command line tool', () => {
  let folder: string;
  let file: string;
  let cluster: TestCluster;
  let redis: RedisConnection;
  let db: HistoryDatabase;
  let url: string;
  const agent = (text: string) => new Agent(url, text);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-erase-'));
    file = join(folder, 'toolyard.json');
    writeFileSync(file, config());
    cluster = await startTestCluster({
      lists: true,
      gatewayEnv: { TOOLYARD_CONFIG: file },
      env: { ARCHIVE_URL: `file://${join(folder, 'archive')}` },
    });
    url = cluster.gateways[0]?.url ?? '';
    redis = createRedis(cluster.redis.url);
    db = openTestDatabase(cluster.databaseUrl ?? '');
  });
  afterAll(async () => {
    redis.disconnect();
    await db.destroy();
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A round of a projector, a minute later. */
  const projector = async () => {
    const store = await openArchive(`file://${join(folder, 'archive')}`);
    const keys = new ContentKeyStore(db);
    const content = { keys, tenants: () => ['acme', 'other'] };
    for (let index = 0; index < PARTITIONS; index += 1) {
      const archiver = new PartitionArchiver(redis, store, partitionName(index), { maxAgeMs: 86_400_000, maxCalls: 1_000 }, content);
      while (await archiver.step({ nowMs: Date.now() + 120_000, segmentMs: 60_000, isFull: false }));
    }
    await new Eraser({ redis, store, keys, erasures: new ErasureStore(db), holds: () => () => false }).round();
  };
  const erase = <T = Erasure>(by: string, callId: string, body: object = {}) =>
    agent(by).request<T>('POST', `/v1/calls/${callId}/erase`, body);

  it('shows caller, tool and times of an erased call, and none of its content', async () => {
    const call = await agent(ADMIN).run('echo', { text: 'private words' }, { sessionId: 's', labels: { ticket: 'private' } });
    const asked = await erase(ADMIN, call.id, { reason: 'request 1' });
    expect([asked.status, asked.body]).toEqual([
      202,
      expect.objectContaining({ callId: call.id, state: 'pending', requestedBy: 'apikey:admin', reason: 'request 1' }),
    ]);
    expect(JSON.stringify((await agent(ADMIN).get('/v1/calls?sessionId=s')).body)).not.toContain('private');
    const { acts } = (await agent(ADMIN).get<ActPage>(`/v1/audit?target=${call.id}`)).body;
    expect(acts).toMatchObject([{ type: 'admin.call_erased', actor: 'apikey:admin', data: { reason: 'request 1' } }]);
    await projector();
    expect((await erase(ADMIN, call.id)).body).toMatchObject({ state: 'done', reason: 'request 1' });

    const read = (await agent(ADMIN).get(`/v1/calls/${call.id}`)).body;
    expect(read).toMatchObject({ tool: 'echo', outcome: 'completed', erased: true, labels: {}, submittedAt: call.submittedAt });
    const events = await agent(ADMIN).events(call.id);
    expect(events.map(({ type }) => type)).toEqual(['call.submitted', 'call.start', 'call.end']);
    const output = await agent(ADMIN).get<string>(`/v1/calls/${call.id}/output`);
    expect(JSON.stringify([read, events, output.body, (await agent(ADMIN).get('/v1/calls?q=private')).body])).not.toContain('private');
    const replayed = await agent(ADMIN).request<Problem>('POST', `/v1/calls/${call.id}/replay`, {});
    expect([replayed.status, replayed.body.code]).toEqual([409, 'conflict']);
  });

  it('requests no erasure when the act cannot be recorded, and records it when it is repeated', async () => {
    const call = await agent(ADMIN).run('echo', { text: 'unrecorded' });
    await redis.config('SET', 'min-replicas-to-write', '1');
    const refused = await erase<Problem>(ADMIN, call.id);
    await redis.config('SET', 'min-replicas-to-write', '0');
    expect(refused.status).toBe(503);
    expect(await new ErasureStore(db).find(call.id)).toBeUndefined();
    expect((await erase(ADMIN, call.id)).body.state).toBe('pending');
    const { acts } = (await agent(ADMIN).get<ActPage>(`/v1/audit?target=${call.id}`)).body;
    expect(acts.map(({ type }) => type)).toEqual(['admin.call_erased']);
  });

  it('refuses an erasure to other tenants like for an unknown call, and without the scope admin', async () => {
    const call = await agent(ADMIN).run('echo', { text: 'mine' });
    const unknown = await erase<Problem>(STRANGER, `${call.id.slice(0, -4)}ZZZZ`);
    const foreign = await erase<Problem>(STRANGER, call.id);
    expect([foreign.status, { ...foreign.body, instance: '' }]).toEqual([404, { ...unknown.body, instance: '' }]);
    await projector();
    expect((await erase(ADMIN, call.id)).status).toBe(202);
    const afterwards = await erase<Problem>(STRANGER, call.id);
    expect([afterwards.status, { ...afterwards.body, instance: '' }]).toEqual([404, { ...unknown.body, instance: '' }]);
    expect((await erase<Problem>(READER, call.id)).body).toMatchObject({ status: 403, code: 'forbidden' });
    const bulk = await agent(STRANGER).request<BulkResult>('POST', '/v1/calls:erase', { filter: { tool: ['echo'] } });
    expect(bulk.body).toMatchObject({ matched: 0, done: 0 });
  });

  it('refuses an erasure with the fix to tenants that are not set to it, and under legal hold', async () => {
    const plain = await agent(PLAIN).run('echo', { text: 'plain' });
    const refused = await erase<Problem>(PLAIN, plain.id);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('Set tenants.plain.retention.erasable: true')]);
    const call = await agent(ADMIN).run('echo', { text: 'held' });
    writeFileSync(file, config({ legalHold: true }));
    const held = await erase<Problem>(ADMIN, call.id);
    const bulk = await agent(ADMIN).request<Problem>('POST', '/v1/calls:erase', { filter: { tool: ['echo'] } });
    writeFileSync(file, config());
    for (const { status, body } of [held, bulk]) expect([status, body.detail]).toEqual([409, expect.stringContaining('legal hold')]);
  });

  it('refuses to erase calls of a held session or agent, and erases the others of a filter', async () => {
    const run = async (context: Record<string, string>) => (await agent(ADMIN).run('echo', { text: 'partly held' }, context)).id;
    const [session, byAgent, free] = [
      await run({ sessionId: 'held' }),
      await run({ sessionId: 'of-bea', agentId: 'bea' }),
      await run({ sessionId: 'free' }),
    ];
    writeFileSync(file, config({ heldSessions: ['held'], heldAgents: ['bea'] }));
    const bulk = await agent(ADMIN).request<BulkResult>('POST', '/v1/calls:erase', { filter: { sessionId: ['held', 'of-bea', 'free'] } });
    const one = await erase<Problem>(ADMIN, session);
    writeFileSync(file, config());
    expect([one.status, one.body.detail]).toEqual([409, expect.stringContaining('tenants.acme.retention.heldSessions')]);
    expect(bulk.body).toMatchObject({ matched: 3, done: 1 });
    expect(bulk.body.failed.map(({ callId }) => callId).toSorted()).toEqual([session, byAgent].toSorted());
    expect((await erase(ADMIN, free)).status).toBe(202);
  });

  it('erases the calls of a session, and waits for one that is named', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await agent(ADMIN).run('echo', { text: `words ${n}` }, { sessionId: 'cli' })).id);
    const cli = (...words: string[]) => startCli(words, { url, env: { TOOLYARD_API_KEY: ADMIN } }).ended();
    expect((await cli('erase', '--session', 'cli', '--dry-run')).err).toContain('3 calls would be');
    expect(await cli('erase', '--session', 'cli', '--yes', '--reason', 'request 2')).toMatchObject({ code: 0 });
    await projector();
    const named = await cli('erase', ids[0] ?? '');
    expect(named).toMatchObject({ code: 0, out: expect.stringContaining(`${ids[0]}: done`), err: expect.stringContaining('backups') });
    for (const id of ids) expect((await agent(ADMIN).get(`/v1/calls/${id}`)).body).toMatchObject({ erased: true });
    expect((await cli('erase', ids[0] ?? '', '--session', 'cli')).code).toBe(2);
    expect((await cli('erase')).code).toBe(2);
  });
});
