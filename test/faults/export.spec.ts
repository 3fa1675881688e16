import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { openArchive, verifyArchive } from '#archive';
import { AdminEvent, type ActPage, type Call, type CallEvent, type IssuedKey, type Problem } from '#contracts';
import { adminPartition, LogReader } from '#event-log';
import { rebuildHistory } from '#history';
import { createRedis, keys, partitionName, type RedisConnection } from '#redis';
import { openArchivedLog, PartitionArchiver } from '#sealing';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { openTestDatabase } from '../support/postgres.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

const OTHER_KEY = 'a-key-of-another-tenant';
const SHORT_KEY = 'a-key-that-is-taken-away';
/** Size of one page of the list. */
const PAGE = 200;

describe('an export', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-export-'));
  const config = join(folder, 'config.yaml');
  const keysOf = (...more: object[]) =>
    JSON.stringify({ keys: [{ id: 'other', key: OTHER_KEY, tenant: 'other', scopes: ['submit', 'read'] }, ...more] });
  const short = { id: 'short', key: SHORT_KEY, tenant: 'default', scopes: ['read'] };
  let cluster: TestCluster;
  let agent: Agent;
  let redis: RedisConnection;
  let url = '';
  let first: Call;
  let trimmed: Call;
  let large: Call;
  let made: IssuedKey;

  beforeAll(async () => {
    writeFileSync(config, keysOf(short));
    cluster = await startTestCluster({
      lists: true,
      env: { ARCHIVE_URL: `file://${folder}/archive` },
      gatewayEnv: { TOOLYARD_CONFIG: config },
    });
    url = cluster.gateways[0]?.url ?? '';
    agent = new Agent(url);
    redis = createRedis(cluster.redis.url);
    first = await agent.run('echo', { n: 0 }, { sessionId: 's' });
    trimmed = await agent.run('shell', { command: 'for n in 1 2 3; do echo "line $n, \\"quoted\\" ä"; done; exit 3' }, { sessionId: 's' });
    large = await agent.run('echo', { text: 'x'.repeat(300_000) });
    made = (await agent.request<IssuedKey>('POST', '/v1/keys', { name: 'ci', scopes: ['read'] })).body;
    await archiveAll();
    for (let n = 1; n <= PAGE + 20; n += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => agent.run('echo', { n: n + k })));
    await new Agent(url, OTHER_KEY).run('echo', { text: 'of the other tenant' });
  });
  afterAll(async () => {
    redis?.disconnect();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Archives everything, like the archiver hours later. */
  const archiveAll = async () => {
    const store = await openArchive(`file://${folder}/archive`);
    for (let index = 0; index < 16; index += 1) {
      const archiver = new PartitionArchiver(redis, store, partitionName(index), { maxAgeMs: 0, maxCalls: 0 });
      while (await archiver.step({ nowMs: Date.now() + 7_200_000, segmentMs: 0, isFull: false }));
    }
  };
  const fetched = (query: string, key = TEST_KEY, init: RequestInit = {}) =>
    fetch(`${url}/v1/calls:export${query}`, { ...init, headers: { authorization: `Bearer ${key}` } });
  const linesOf = (text: string) =>
    text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as CallEvent);
  const callsOf = (events: readonly CallEvent[]) => [...new Set(events.map(({ subject }) => subject))];
  const exported = async (query: string, key?: string) => {
    const response = await fetched(query, key);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    return linesOf(await response.text());
  };

  it('exports every event of every call once, newest call first, including those that have left Redis', async () => {
    expect(await redis.exists(keys.call(trimmed.id), keys.call(large.id))).toBe(0);
    const events = await exported('');
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const calls = callsOf(events);
    expect(calls).toHaveLength(PAGE + 23);
    expect(calls.slice(-3)).toEqual([large.id, trimmed.id, first.id]);
    for (const { id } of [first, trimmed, large]) expect(events.filter(({ subject }) => subject === id)).toEqual(await agent.events(id));
    expect(events.filter(({ type }) => type === 'call.end')).toHaveLength(PAGE + 23);
  });

  it('exports administrative acts on request, archived, verified and in rebuilt lists', async () => {
    const partition = adminPartition('default', 16);
    const acts = async () => (await agent.get<ActPage>('/v1/audit')).body.acts;
    const [act] = await acts();
    expect(AdminEvent.parse(act)).toMatchObject({ type: 'admin.key_created', data: { target: made.id } });
    expect((await redis.xrange(keys.log(partition), '-', '+')).flat(2).join(' ')).not.toContain(made.id);
    expect((await exported('?acts=true&sessionId=s')).at(-1)).toEqual(act);
    expect((await fetched('?acts=true', OTHER_KEY)).status).toBe(403);
    const rows = await parquetReadObjects({ file: await (await fetched('?acts=true&agentId=none&format=parquet')).arrayBuffer() });
    expect(rows).toMatchObject([{ type: 'admin.key_created', tenantid: 'default', actor: 'apikey:bootstrap' }]);

    const faults: unknown[] = [];
    const store = await openArchive(`file://${folder}/archive`);
    await verifyArchive({ store, report: ({ fault }) => fault.includes('checkpoint') || faults.push(fault) });
    expect(faults).toEqual([]);
    const db = openTestDatabase(cluster.databaseUrl ?? '');
    const source = new LogReader(redis, await openArchivedLog(`file://${folder}/archive`));
    await rebuildHistory({ db, source, partitions: 16 });
    await db.destroy();
    expect(await acts()).toEqual([act]);
  });

  it('applies the filters of lists to an export, which is empty without matches', async () => {
    expect(callsOf(await exported('?sessionId=s&tool=echo'))).toEqual([first.id]);
    expect(callsOf(await exported(`?until=${trimmed.submittedAt}&outcome=completed`))).toEqual([trimmed.id, first.id]);
    expect(await exported('?agentId=none')).toEqual([]);
  });

  it('exports nothing of another tenant, and requires the scope read', async () => {
    const events = await exported('', OTHER_KEY);
    expect(new Set(events.map(({ tenantid }) => tenantid))).toEqual(new Set(['other']));
    expect(JSON.stringify(await exported('?q=other'))).not.toContain('of the other tenant');
    expect((await fetched('', 'no-such-key-at-all')).status).toBe(401);
  });

  it('refuses an export in formats that are not implemented, and with unknown fields', async () => {
    for (const query of ['?format=ocsf', '?format=cef']) {
      const answer = await fetched(query);
      expect([answer.status, ((await answer.json()) as Problem).detail]).toEqual([422, expect.stringContaining('not implemented')]);
    }
    expect((await fetched('?cursor=x')).status).toBe(422);
  });

  it('exports a Parquet file with the same events', async () => {
    const response = await fetched('?format=parquet');
    expect(response.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    const rows = await parquetReadObjects({ file: await response.arrayBuffer() });
    const events = rows.map(({ time, ...row }) => {
      const present = Object.entries(row).filter(([, value]) => value !== null && value !== undefined);
      return { ...Object.fromEntries(present), time: (time as Date).toISOString() };
    });
    const expected = (await exported('')).map((event) => {
      const { specversion: _, datacontenttype: __, ...rest } = event as CallEvent & Record<string, unknown>;
      return rest;
    });
    expect(events).toEqual(expected);
    const none = await (await fetched('?format=parquet&agentId=none')).arrayBuffer();
    expect(await parquetReadObjects({ file: none })).toEqual([]);
  });

  it('saves an export to a file by the command line, under its name only when complete', async () => {
    const file = join(folder, 'events.jsonl');
    const done = await startCli(['export', '--session', 's', '-o', file], { url }).ended();
    expect(done).toMatchObject({ code: 0, out: '', err: expect.stringMatching(/^\d+ events, \d+ bytes in /) });
    expect(linesOf(readFileSync(file, 'utf8'))).toEqual(await exported('?sessionId=s'));
    expect(existsSync(`${file}.part`)).toBe(false);
    const piped = await startCli(['export', '--tool', 'shell'], { url }).ended();
    expect([piped.code, linesOf(piped.out)]).toEqual([0, await agent.events(trimmed.id)]);
    expect(await startCli(['export', '--format', 'ocsf'], { url }).ended()).toMatchObject({ code: 2 });
    expect(await startCli(['export', '-o', '/no/such/folder/x'], { url }).ended()).toMatchObject({ code: 2 });
  });

  it('cuts an export if the events of a listed call are missing; the command line keeps no file of it', async () => {
    const lost = await agent.run('echo', { text: 'lost' }, { sessionId: 'lost' });
    const counted = async () => (await agent.get<{ count: number }>('/v1/calls:count?sessionId=lost&status=ended')).body.count;
    await eventually(async () => (await counted()) === 1, 'the row of the call');
    const key = keys.call(lost.id);
    const kept = await redis.getBuffer(key);
    await redis.del(key);
    try {
      await expect(fetched('').then((response) => response.text())).rejects.toThrow('terminated');
      const file = join(folder, 'cut.parquet');
      const cut = await startCli(['export', '--format', 'parquet', '-o', file], { url }).ended();
      expect(cut).toMatchObject({ code: 7, err: expect.stringContaining('it is not complete') });
      expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
    } finally {
      await redis.set(key, kept ?? '');
    }
  });

  /** A gateway whose reads of Redis stop at this call. */
  const stopsAt = async (call: Call) => {
    const proxy = await FaultyProxy.start(cluster.redis.url);
    const gateway = await cluster.gateway({ REDIS_URL: proxy.url.replace('http', 'redis') });
    const seen = { first: false };
    let stopped = () => {};
    const isStopped = new Promise<void>((resolve) => (stopped = resolve));
    proxy.toServer = (piece) => {
      if (piece.includes(keys.call(first.id))) seen.first = true;
      if (piece.includes(keys.call(call.id))) {
        proxy.hold();
        stopped();
      }
      return piece;
    };
    const open = (key: string, signal?: AbortSignal) =>
      fetch(`${gateway.url}/v1/calls:export`, { headers: { authorization: `Bearer ${key}` }, signal: signal ?? null });
    return { proxy, gateway, isStopped, open, seen };
  };

  it('cuts an export when its key is revoked', async () => {
    const { proxy, isStopped, open } = await stopsAt(first);
    try {
      const response = await open(SHORT_KEY);
      const text = response.text();
      await isStopped;
      writeFileSync(config, keysOf());
      await expect(text).rejects.toThrow('terminated');
    } finally {
      proxy.release();
      await proxy.close();
    }
  });

  it('stops the work of an export when the client disconnects', async () => {
    const newest = await agent.run('echo', { text: 'newest' });
    const { proxy, gateway, isStopped, open, seen } = await stopsAt(newest);
    try {
      const client = new AbortController();
      const response = await open(TEST_KEY, client.signal);
      const text = response.text();
      await isStopped;
      client.abort();
      await expect(text).rejects.toThrow('aborted');
      await fetch(`${gateway.url}/livez`);
      proxy.release();
      await eventually(() => gateway.log().includes('an export was aborted'), 'the export to stop');
      expect(seen.first).toBe(false);
    } finally {
      proxy.release();
      await proxy.close();
    }
  });
});
