import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Checkpointer, ensureSigningKey, openArchive, readSigningKey, sealSegment, storeSegment } from '#archive';
import type { Call, CallEvent } from '#contracts';
import { HistoryRetention } from '#history';
import { Agent } from '../support/agent.js';
import { ArchivedInstallation, DAY_MS } from '../support/archived-installation.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { openTestDatabase } from '../support/postgres.js';
import { readSse } from '../support/sse.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const PARTITIONS = 16;

describe('a call that retention has dropped from the archive', () => {
  let folder: string;
  let cluster: TestCluster;
  let agent: Agent;
  let installation: ArchivedInstallation;
  let [gone, kept]: Call[] = [];
  let cursor = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-retained-'));
    const archiveUrl = `file://${folder}/archive`;
    // Unchecked: a client got a call that retention drops from log and archive.
    cluster = await startTestCluster({ lists: true, env: { ARCHIVE_URL: archiveUrl }, checked: false });
    agent = new Agent(cluster.gateways[0]?.url ?? '');
    installation = await ArchivedInstallation.open({ redisUrl: cluster.redis.url, partitions: PARTITIONS, archiveUrl });
    gone = await agent.run('echo', { text: 'x'.repeat(300_000) }, { sessionId: 's' });
    const streamed = await readSse(`${agent.url}/v1/calls/${gone.id}/events`);
    cursor = streamed[0]?.id ?? '';
    await installation.archive();
    expect((await agent.get(`/v1/calls/${gone.id}`)).status).toBe(200);
    const db = openTestDatabase(cluster.databaseUrl ?? '');
    const now = () => Date.now() + 2 * DAY_MS;
    const policy = () => ({ days: undefined, archiveDays: 1, tenants: {} });
    const rows = new HistoryRetention({ db, policy, now });
    try {
      const isWritten = async () => (await db.selectFrom('calls').select('id').where('ended_at', 'is not', null).execute()).length === 1;
      await eventually(isWritten, 'the row of the call');
      await installation.retain(() => 1, 2, { deleteRows: () => rows.round() });
    } finally {
      await db.destroy();
    }
    // A gateway that has not read the archive before; others notice within a minute.
    agent = new Agent((await cluster.gateway()).url);
    kept = await agent.run('echo', { text: 'kept' }, { sessionId: 's' });
  });
  afterAll(async () => {
    await installation?.close();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('answers 404 on every route for a call dropped by retention, and leaves the others unchanged', async () => {
    for (const path of ['', '/events', '/output']) expect((await agent.get(`/v1/calls/${gone?.id}${path}`)).status).toBe(404);
    expect((await agent.request('POST', `/v1/calls/${gone?.id}/replay`, {})).status).toBe(404);
    expect((await agent.get(`/v1/calls/${kept?.id}`)).body).toEqual(kept);
  });

  it('hides a dropped call from lists and exports, also of a tenant that keeps rows for ever', async () => {
    const listed = async () => (await agent.get<{ calls: Call[] }>('/v1/calls')).body.calls.map(({ id }) => id);
    expect(await listed()).toEqual([kept?.id]);
    const lines = (await agent.get<string>('/v1/calls:export')).body.trim().split('\n');
    expect(new Set(lines.map((line) => (JSON.parse(line) as CallEvent).subject))).toEqual(new Set([kept?.id]));
  });

  it('begins a rebuild after a call dropped by retention', async () => {
    const env = { REDIS_URL: cluster.redis.url, DATABASE_URL: cluster.databaseUrl ?? '', ARCHIVE_URL: `file://${folder}/archive` };
    const rebuilt = await startCli(['history', 'rebuild'], { url: agent.url, env }).ended();
    expect(rebuilt).toMatchObject({ code: 0, out: expect.not.stringContaining('cannot be read') });
    const ids = (await agent.get<{ calls: Call[] }>('/v1/calls')).body.calls.map(({ id }) => id);
    expect(ids).toEqual([kept?.id]);
  });

  it('skips a dropped call with a resync in a stream with an older cursor', async () => {
    const messages = await readSse(`${agent.url}/v1/events?sessionId=s`, {
      lastEventId: cursor,
      enough: (found) => found.length > 0,
    });
    expect(messages[0]).toMatchObject({ event: 'resync' });
    const resumed = JSON.parse(messages[0]?.data ?? '{}') as { cursor: string };
    const next = await agent.run('echo', { text: 'next' }, { sessionId: 's' });
    const later = await readSse(`${agent.url}/v1/events?sessionId=s`, {
      lastEventId: resumed.cursor,
      enough: (found) => found.some(({ data }) => data.includes(next.id)),
    });
    expect(later.some(({ event }) => event === 'resync')).toBe(false);
  });

  it('reports a dropped call in verify as dropped, and no fault of the archive', async () => {
    const { publicKey } = await readSigningKey(installation.keyFile);
    const words = ['verify', `${folder}/archive`, '--key', publicKey, '--published', installation.published.label];
    const verified = await startCli(words, { url: agent.url }).ended();
    expect(verified).toMatchObject({
      code: 0,
      out: expect.stringMatching(/ events in \d+ segments were dropped by retention[^]*no fault\n$/),
    });
  });
});

describe('a projector with days for the archive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-retaining-'));
  const config = join(folder, 'config.yaml');
  const archiveUrl = `file://${folder}/archive`;
  const keyFile = join(folder, 'key');
  const retained = (settings: string) => writeFileSync(config, `tenants: { old: { retention: { ${settings} } } }`);
  const oldest = Date.now() - 100 * DAY_MS;
  let cluster: TestCluster;

  beforeAll(async () => {
    // Unchecked: events of calls that no app wrote are dropped.
    cluster = await startTestCluster({ gateways: 0, workers: 0, checked: false });
    // Events of a lost Redis: 100, 70 and 40 days old.
    const store = await openArchive(archiveUrl);
    let previous;
    for (const [index, days] of [100, 70, 40].entries()) {
      const event = oldEvent(index + 1, oldest + (100 - days) * DAY_MS);
      previous = await storeSegment(store, sealSegment({ partition: '00', generation: 1, epoch: 1, previous, events: [event] }));
    }
    await ensureSigningKey(keyFile);
    await new Checkpointer({ store, signer: await readSigningKey(keyFile), partitions: ['00'] }).sign();
    // Successor with events of its own.
    const successor = await ArchivedInstallation.open({ redisUrl: cluster.redis.url, partitions: 1, archiveUrl, keyFile });
    await successor.run('old');
    await successor.archive();
    await successor.close();
  });
  afterAll(async () => {
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = () =>
    cluster.projector({ ARCHIVE_URL: archiveUrl, ARCHIVE_SIGNING_KEY_FILE: keyFile, TOOLYARD_CONFIG: config, PARTITIONS: '1' });
  const metric = async (url: string, name: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(new RegExp(`^toolyard_archive_${name} (\\S+)`, 'm').exec(text)?.[1]);
  };
  const left = async () =>
    (await (await openArchive(archiveUrl)).list('segments/p00/g1/'))
      .filter((name) => name.endsWith('.gz'))
      .map((name) => Number(name.slice(-21, -9)));

  it('drops older calls from the archive, nothing under legal hold, and reports the age of the rest', async () => {
    retained('archiveDays: 60, legalHold: true');
    const holding = await start();
    await eventually(async () => (await metric(holding.url, 'oldest_timestamp_seconds')) > 0, 'the first round');
    expect(await metric(holding.url, 'oldest_timestamp_seconds')).toBeCloseTo(oldest / 1_000, -3);
    expect(await left()).toEqual([1, 2, 3]);
    holding.signal('SIGTERM');
    await holding.ended();

    retained('archiveDays: 60');
    const projector = await start();
    await eventually(async () => (await metric(projector.url, 'dropped_segments_total')) === 2, 'the old segments to go');
    await eventually(async () => (await metric(projector.url, 'oldest_timestamp_seconds')) > 0, 'the end of the round');
    expect(await left()).toEqual([3]);
    expect(await metric(projector.url, 'dropped_events_total')).toBe(2);
    expect(await metric(projector.url, 'oldest_timestamp_seconds')).toBeCloseTo((oldest + 60 * DAY_MS) / 1_000, -3);
    const { publicKey } = await readSigningKey(keyFile);
    const verified = await startCli(['verify', `${folder}/archive`, '--key', publicKey], { url: 'http://127.0.0.1:1' }).ended();
    expect(verified).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\n2 events in 2 segments were dropped by retention[^]*no fault/),
    });
  });

  it('refuses to start a projector with days for the archive without a key to sign with', async () => {
    retained('archiveDays: 60');
    const started = cluster.projector({ ARCHIVE_URL: archiveUrl, TOOLYARD_CONFIG: config, PARTITIONS: '1' });
    await expect(started).rejects.toThrow('set ARCHIVE_SIGNING_KEY_FILE');
  });
});

function oldEvent(seq: number, time: number) {
  const envelope = {
    specversion: '1.0',
    id: `1.0.${seq}`,
    type: 'call.submitted',
    subject: `00-01KZ${String(seq).padStart(22, '0')}`,
    time: new Date(time).toISOString(),
    tenantid: 'old',
    tool: 'echo',
    callver: 1,
    data: {},
  };
  return { seq, time, json: JSON.stringify(envelope) };
}
