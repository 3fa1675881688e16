import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openArchive, verifyArchive, type ArchiveStore } from '#archive';
import { BlobStore, CallStore, EventLog, LogReader } from '#event-log';
import { ContentKeyStore, ErasureStore, HistoryProjector, openHistoryDatabase, rebuildHistory, type HistoryDatabase } from '#history';
import { createRedis, keys, partitionName, partitionOf, type RedisConnection } from '#redis';
import { ArchivedLog, Eraser, PartitionArchiver, type ContentKeys } from '#sealing';
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
      ...aSubmission({ argumentsRef, labels: { [secret]: secret }, toolCallId: secret, purpose: secret }),
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
  const archive = async () => {
    for (let index = 0; index < PARTITIONS; index += 1) {
      const one = archiver(partitionName(index));
      while (await one.step({ nowMs: Date.now() + 120_000, segmentMs: 60_000, isFull: false }));
    }
  };

  const eraser = () =>
    new Eraser({
      redis,
      store,
      keys: contentKeys,
      erasures,
      heldTenants: () => new Set(),
      onError: (error) => expect(error).toBeUndefined(),
    });
  const project = async () => {
    const projector = new HistoryProjector({
      db,
      log: new LogReader(redis, new ArchivedLog(store, contentKeys)),
      partitions: PARTITIONS,
      onError: () => {},
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
  };
  const erase = async (callId: string) => {
    await request(callId);
    await eraser().round();
    await archive();
    await eraser().round();
    expect((await erasures.find(callId))?.doneAt).toBeInstanceOf(Date);
  };
  const rows = async () => (await sql<{ row: unknown }>`select to_jsonb(calls) as row from calls order by id`.execute(db)).rows;

  /** Where a text is found: files of the archive, keys of Redis, tables of the database. */
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

  it('leaves the content of a call nowhere, and the archive verifies', async () => {
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
});
