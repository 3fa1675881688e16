import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openArchive, verifyArchive, type ArchiveStore } from '#archive';
import { BlobStore, CallStore, EventLog, LogReader } from '#event-log';
import { ContentKeyStore, ErasureStore, HistoryProjector, openHistoryDatabase, rebuildHistory, type HistoryDatabase } from '#history';
import { createRedis, partitionName, partitionOf, type RedisConnection } from '#redis';
import { ArchivedLog, Eraser, type EraserOptions, PartitionArchiver, requestErase, type ContentKeys } from '#sealing';
import { testDatabase } from '../support/postgres.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { aCall, aSubmission, author } from '../support/sample-calls.js';

const TENANT = 'acme';
const PARTITIONS = 2;
const SECRET = 'zanzibar-4711';
const largeOf = (secret: string) => JSON.stringify(`${secret} `.repeat(2_000));

describe('erasure', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let log: EventLog;
  let folder: string;
  let store: ArchiveStore;
  let db: HistoryDatabase;
  let contentKeys: ContentKeyStore;
  let erasures: ErasureStore;
  let tenants: string[];

  beforeEach(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    folder = mkdtempSync(join(tmpdir(), 'toolyard-erasure-'));
    store = await openArchive(`file://${folder}`);
    const url = await testDatabase();
    db = openHistoryDatabase({ url, name: 'test', connections: 4, statementTimeoutMs: 10_000, onError: () => {} });
    [contentKeys, erasures, tenants] = [new ContentKeyStore(db), new ErasureStore(db), [TENANT]];
  });
  afterEach(async () => {
    await log.close();
    redis.disconnect();
    await Promise.all([server.stop(), db.destroy()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** A call whose content is everywhere that content can be. */
  const run = async (secret = SECRET, tenantId = TENANT) => {
    const meta = { tenantId, tool: 'echo', sessionId: 's' };
    const callId = log.newCallId(tenantId, 's');
    const argumentsRef = { ref: 'arguments' as const, sha256: 'a'.repeat(64), bytes: largeOf(secret).length, preview: secret };
    const submitted = {
      ...aSubmission({ argumentsRef, labels: { [secret]: secret }, toolCallId: secret, userId: secret, purpose: secret }),
      arguments: undefined,
    };
    const blobs = new BlobStore(redis);
    await Promise.all((['arguments', 'result', 'output'] as const).map((ref) => blobs.put(callId, ref, Buffer.from(largeOf(secret)))));
    await log.accept(aCall(callId, { meta, submitted }));
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    const guard = (writeSeq: number) => ({ by: 'worker' as const, fence: 1, writeSeq });
    await log.update({ callId, guard: guard(1), data: { update: 1, content: [{ type: 'text', text: secret }] }, author });
    const check = { sha256: 'b'.repeat(64), bytes: largeOf(secret).length, preview: secret };
    await log.end({
      callId,
      guard: guard(2),
      data: {
        outcome: 'failed',
        attempts: 1,
        note: secret,
        error: { code: 'tool_failed', message: secret, retryable: false },
        output: { ref: 'output', ...check },
      },
      author,
    });
    return callId;
  };

  const archiver = (name: string, contents: ContentKeys = contentKeys, archive = store) =>
    new PartitionArchiver(redis, archive, name, { maxAgeMs: 86_400_000, maxCalls: 1_000 }, { keys: contents, tenants: () => tenants });

  /** Archives what is older than a minute, a minute later. */
  const archiveWith = async (to: ArchiveStore, contents: ContentKeys = contentKeys) => {
    for (let index = 0; index < PARTITIONS; index += 1) {
      const one = archiver(partitionName(index), contents, to);
      while (await one.step({ nowMs: Date.now() + 120_000, segmentMs: 60_000, isFull: false }));
    }
  };
  const archive = () => archiveWith(store);

  const eraser = () =>
    new Eraser({
      redis,
      store,
      keys: contentKeys,
      erasures,
      holds: () => () => false,
    });
  const project = async () => {
    const projector = new HistoryProjector({
      db,
      log: new LogReader(redis, new ArchivedLog(store, contentKeys)),
      partitions: PARTITIONS,
    });
    while (await projector.round());
  };
  const request = async (callId: string) => {
    const { lastSeq = 0 } = (await new CallStore(redis, new ArchivedLog(store, contentKeys)).snapshot(callId)) ?? {};
    await erasures.request({
      callId,
      tenantId: TENANT,
      partition: partitionOf(callId),
      lastSeq,
      requestedBy: 'apikey:test',
      reason: undefined,
    });
    await requestErase(redis, partitionOf(callId), lastSeq);
  };
  const erase = async (callId: string) => {
    await request(callId);
    await eraser().round();
    await archive();
    await eraser().round();
    expect((await erasures.find(callId))?.doneAt).toBeInstanceOf(Date);
  };
  const rows = async () =>
    (await sql<{ row: unknown }>`select to_jsonb(calls) as row from calls order by id`.execute(db)).rows.map(({ row }) => row);

  /** Places that contain a text: files of the archive, keys of Redis, tables of the database. */
  const placesOf = async (text: string) => {
    const found: string[] = [];
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name);
      const bytes = await store.get(name).catch(() => undefined);
      if (bytes === undefined) continue;
      const plain = path.endsWith('.gz') ? gunzipSync(bytes) : readFileSync(path);
      if (plain.includes(text) || plain.includes(Buffer.from(text).toString('base64').slice(0, 12))) found.push(name);
    }
    for (const key of await redis.keys('*')) {
      const stream = (await redis.type(key)) === 'stream' ? JSON.stringify(await redis.xrange(key, '-', '+')) : undefined;
      const dump = stream ?? ((await redis.dumpBuffer(key)) ?? Buffer.alloc(0)).toString('latin1');
      if (dump.includes(text)) found.push(key);
    }
    const { rows: tables } = await sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'toolyard'`.execute(db);
    for (const { name } of tables) {
      const { rows: hits } = await sql`select 1 from ${sql.table(name)} as t where t::text ilike ${`%${text}%`} limit 1`.execute(db);
      if (hits.length > 0) found.push(`table ${name}`);
    }
    return found;
  };

  const filesWith = async (text: string) => (await placesOf(text)).filter((place) => place.includes('/') && !place.includes('{'));

  it('leaves the content of an erased call nowhere, and the archive verifies', async () => {
    const callId = await run();
    const other = await run('another-content');
    await project();
    expect(await placesOf(SECRET)).not.toEqual([]);
    await erase(callId);
    await project();

    expect(await placesOf(SECRET)).toEqual([]);
    expect(await verifyArchive({ store, report: (fault) => expect(fault).toBeUndefined() })).toMatchObject({ faults: 0, endedCalls: 2 });
    const calls = new CallStore(redis, new ArchivedLog(store, contentKeys));
    expect(await calls.read(callId)).toMatchObject({
      id: callId,
      erased: true,
      outcome: 'failed',
      labels: {},
      error: { code: 'tool_failed', message: '' },
    });
    expect(await calls.blob(callId, 'output')).toBeUndefined();
    expect(await calls.read(other)).toMatchObject({ labels: { 'another-content': 'another-content' } });
    expect((await calls.blob(other, 'output'))?.toString()).toBe(largeOf('another-content'));
  });

  it('shows the same rows after a rebuild of erased calls, with keys and without', async () => {
    const [callId, other] = [await run(), await run('another-content')];
    await project();
    await erase(callId);
    await project();
    const before = await rows();
    const source = new LogReader(redis, new ArchivedLog(store, contentKeys));
    await rebuildHistory({ db, source, partitions: PARTITIONS });
    expect(await rows()).toEqual(before);
    expect(JSON.stringify(before)).not.toContain(SECRET);
    expect(before).toEqual([expect.objectContaining({ id: callId }), expect.objectContaining({ id: other, preview: 'another-content' })]);
  });

  it('archives no segment that cannot be read, wherever it stops, and every process the same bytes', async () => {
    for (let stop = 1; stop <= 12; stop += 1) {
      const callId = await run(`content-${stop}`);
      const stopped = failing(store, stop);
      await Promise.allSettled([archiveWith(stopped), archiveWith(failing(store, stop + 1))]);
      expect(await new CallStore(redis, new ArchivedLog(store, contentKeys)).read(callId)).toMatchObject({
        labels: { [`content-${stop}`]: `content-${stop}` },
      });
    }
    await archive();
    expect(await verifyArchive({ store, report: (fault) => expect(fault).toBeUndefined() })).toMatchObject({ faults: 0, endedCalls: 12 });
    for (let stop = 1; stop <= 12; stop += 1) expect(await filesWith(`content-${stop}"`)).toEqual([]);
  });

  it('commits keys before the segment, and archives nothing while they cannot be stored', async () => {
    await run();
    const order: string[] = [];
    const watched: ContentKeys = {
      make: async (calls) => {
        await contentKeys.make(calls);
        order.push('keys');
      },
      read: (callIds) => contentKeys.read(callIds),
    };
    const away: ContentKeys = {
      make: () => Promise.reject(new Error('the database is away')),
      read: (callIds) => contentKeys.read(callIds),
    };
    await expect(archiveWith(store, away)).rejects.toThrow('the database is away');
    expect(await store.list('')).toEqual([]);
    await archiveWith({ ...bound(store), put: (name, bytes) => (order.push(name), store.put(name, bytes)) }, watched);
    expect(order[0]).toBe('keys');
  });

  it('keeps the encryption of a call’s submission when its tenant’s setting changes later', async () => {
    const meta = { tenantId: TENANT, tool: 'echo', sessionId: 's' };
    const open = log.newCallId(TENANT, 's');
    await log.accept(aCall(open, { meta, submitted: aSubmission({ arguments: { text: SECRET } }) }));
    await archive();
    tenants = [];
    await log.claim({ callId: open, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    await log.end({
      callId: open,
      guard: { by: 'worker', fence: 1, writeSeq: 1 },
      data: { outcome: 'completed', attempts: 1, note: SECRET },
      author,
    });
    const plain = await run('plain-content');
    await archive();
    expect(await filesWith(SECRET)).toEqual([]);
    expect(await filesWith('plain-content')).not.toEqual([]);
    expect((await contentKeys.read([open, plain])).has(plain)).toBe(false);
    await erase(open);
    expect(await new CallStore(redis, new ArchivedLog(store, contentKeys)).read(open)).toMatchObject({ erased: true, arguments: null });
  });

  it('reports an unencrypted call at its erasure, and erases again after a backup restored the keys', async () => {
    tenants = [];
    const plain = await run('plain-content');
    await request(plain);
    await archive();
    await eraser().round();
    expect(await erasures.find(plain)).toMatchObject({ doneAt: undefined, fault: expect.stringContaining('did not encrypt') });
    tenants = [TENANT];
    const callId = await run();
    await archive();
    const key = (await contentKeys.read([callId])).get(callId);
    await erase(callId);
    await db.updateTable('content_keys').set({ key }).where('call_id', '=', callId).execute();
    await eraser().round();
    expect((await contentKeys.read([callId])).get(callId)).toBeNull();
  });

  it('continues a killed erasure, also with two at once', async () => {
    const callId = await run();
    await request(callId);
    await archive();
    const dying = new Eraser({
      redis,
      store: { ...bound(store), delete: () => Promise.reject(new Error('killed')) },
      keys: contentKeys,
      erasures,
      holds: () => () => false,
    });
    await expect(dying.round()).rejects.toThrow('killed');
    expect((await erasures.find(callId))?.doneAt).toBeUndefined();
    await Promise.all([eraser().round(), eraser().round()]);
    expect(await placesOf(SECRET)).toEqual([]);
  });

  it.each<[string, ReturnType<EraserOptions['holds']>]>([
    ['a tenant', (tenant) => tenant === TENANT],
    ['a session', (_tenant, { sessionId } = {}) => sessionId === 's'],
  ])('erases nothing of %s under legal hold', async (_what, isHeld) => {
    const callId = await run();
    await request(callId);
    await archive();
    const held = new Eraser({ redis, store, keys: contentKeys, erasures, holds: () => isHeld });
    expect(await held.round()).toBe(0);
    expect((await contentKeys.read([callId])).get(callId)).toBeInstanceOf(Buffer);
  });
});

function bound(store: ArchiveStore): ArchiveStore {
  return {
    label: store.label,
    get: (name) => store.get(name),
    list: (prefix, options) => store.list(prefix, options),
    delete: (name) => store.delete(name),
    put: (name, bytes) => store.put(name, bytes),
  };
}

/** Fails at the nth value that is written: the even ones before it is, the others after it was. */
function failing(store: ArchiveStore, nth: number): ArchiveStore {
  let count = 0;
  const put: ArchiveStore['put'] = async (name, bytes) => {
    count += 1;
    if (count === nth && nth % 2 === 0) throw new Error('killed before');
    const result = await store.put(name, bytes);
    if (count === nth) throw new Error('killed after');
    return result;
  };
  return { ...bound(store), put };
}
