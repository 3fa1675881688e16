import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { findSegment, loadSegment, openArchive, verifyArchive, type ArchiveStore } from '#archive';
import { BlobStore, CallStore, EventLog, isApplied, LogReader, type StoredEvent } from '#event-log';
import { createRedis, keys, partitionNames, partitionOf, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author, endOf } from '../../../test/support/sample-calls.js';
import { PartitionArchiver } from './partition-archiver.js';
import { ArchivedLog } from './read/archived-log.js';
import { requestErase } from './seal/archive-position.js';
import { SealingFault } from './sealing-fault.js';

const PARTITIONS = 2;
const NAMES = partitionNames(PARTITIONS);
const WORKER = { leaseMs: 60_000, worker: 'w', author };

describe('archiving and trimming', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let log: EventLog;
  let folder: string;
  let archive: ArchiveStore;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
  });
  beforeEach(async () => {
    await redis.flushall();
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    folder = mkdtempSync(join(tmpdir(), 'toolyard-sealing-'));
    archive = await openArchive(`file://${folder}`);
  });
  afterEach(async () => {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const archiverOf = (name: string, store = archive) => new PartitionArchiver(redis, store, name, { maxAgeMs: 0, maxCalls: 0 });

  /** Archives and trims the whole log, as if it had been written hours ago. */
  const archiveAll = async (store = archive) => {
    for (const name of NAMES) {
      const archiver = archiverOf(name, store);
      const step = { nowMs: Date.now() + 7_200_000, segmentMs: 0, isFull: false };
      while (await archiver.step(step));
    }
  };

  const submit = async (changes: Parameters<typeof aCall>[1] = {}) => {
    const callId = log.newCallId('acme', changes.meta?.sessionId);
    await log.accept(aCall(callId, changes));
    return callId;
  };

  const run = async (callId: string, updates = 0) => {
    await log.claim({ callId, attempt: 1, ...WORKER });
    for (let n = 1; n <= updates; n += 1)
      await log.update({ callId, guard: { by: 'worker', fence: 1, writeSeq: n }, data: { update: n, content: [] }, author });
    await log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: updates + 1 }, data: endOf('completed'), author });
    return callId;
  };

  const inRedis = async () => (await redis.keys('*')).filter((key) => /:call:|:blob:|:kept$/.test(key)).toSorted();
  const logLengths = () => Promise.all(NAMES.map((name) => redis.xlen(keys.log(name))));

  it('reads a call unchanged after it has left Redis', async () => {
    const blobs = new BlobStore(redis);
    const callId = await submit({
      submitted: {
        ...aSubmission({ argumentsRef: { ref: 'arguments', sha256: 'a'.repeat(64), bytes: 9, preview: '{' } }),
        arguments: undefined,
      },
      argumentsBlob: '{"text":1}',
    });
    await blobs.put(callId, 'arguments', Buffer.from('{"text":1}'));
    await run(callId, 3);
    const others = await Promise.all(Array.from({ length: 20 }, async () => run(await submit(), 1)));
    const hot = new CallStore(redis);
    const read = async (store: CallStore) => ({
      calls: await store.readMany([callId, ...others]),
      summaries: await store.readSummaries([callId, ...others]),
      snapshots: await Promise.all([callId, ...others].map((id) => store.snapshot(id))),
      page: (await store.eventPage(callId, { limit: 4 })).events.map(shown),
      events: (await store.events(callId)).map(shown),
      value: await store.blob(callId, 'arguments'),
    });
    const before = await read(hot);
    expect(before.calls[0]?.arguments).toEqual({ text: 1 });

    await archiveAll();
    expect([await inRedis(), await logLengths()]).toEqual([[], [0, 0]]);
    expect(await hot.read(callId)).toBeUndefined();

    const after = await read(new CallStore(redis, new ArchivedLog(archive)));
    expect(plain(after)).toEqual(plain(before));
  });

  it('archives when events are old enough or to be erased, and else looks no further than two numbers', async () => {
    const meta = { tenantId: 'acme', tool: 'echo', sessionId: 's' };
    const name = partitionOf(await run(await submit({ meta })));
    const archiver = archiverOf(name);
    const step = { nowMs: Date.now(), segmentMs: 60_000, isFull: false };
    const later = { ...step, nowMs: step.nowMs + 61_000 };
    const due = () => Promise.all([archiver.isDue(step), archiver.isDue(later)]);

    expect(await due()).toEqual([true, true]);
    expect(await archiver.step(step)).toBe(false);
    expect(await due()).toEqual([false, true]);
    expect(await archiver.step(later)).toBe(true);
    expect([await inRedis(), await due()]).toEqual([[], [false, false]]);
    await run(await submit({ meta }));
    expect(await due()).toEqual([true, true]);
    expect(await archiver.step(step)).toBe(false);
    expect(await due()).toEqual([false, true]);
    await requestErase(redis, name, 6);
    expect(await due()).toEqual([true, true]);
  });

  it('answers undefined for ids that no archived call has', async () => {
    await run(await submit());
    await archiveAll();
    const store = new CallStore(redis, new ArchivedLog(archive));
    for (const id of ['00-01JZ8C5W3Q4X9R7T2M6K8N0P0V', log.newCallId('acme'), '00-../../x', 'x', ''])
      expect(await store.read(id).catch((error: unknown) => error)).toBeUndefined();
  });

  it('keeps as many ended calls in Redis as the hot window allows, and those younger than its age', async () => {
    const meta = { tenantId: 'acme', tool: 'echo', sessionId: 's' };
    const name = partitionOf(log.newCallId('acme', 's'));
    const archiver = new PartitionArchiver(redis, archive, name, { maxAgeMs: 3_600_000, maxCalls: 40 });
    const left = async (afterMs: number) => {
      while (await archiver.step({ nowMs: Date.now() + afterMs, segmentMs: 0, isFull: false }));
      return (await inRedis()).filter((key) => key.includes(':call:')).length;
    };
    const counts: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 20; n += 1) await run(await submit({ meta }));
      counts.push(await left(20_000));
    }
    expect(counts).toEqual([20, 40, 40]);
    expect(await left(3_500_000)).toBe(40);
    expect(await left(3_700_000)).toBe(0);
  });

  it('keeps only what a waiting call needs while thousands of others end, and lets it run', async () => {
    const meta = { tenantId: 'acme', tool: 'echo', sessionId: 's' };
    const digest = 'd'.repeat(64);
    const callId = await submit({ meta, followUp: { kind: 'approval', data: { reasons: [], digest, expiresInMs: 60_000 } } });
    // Calls for more than three full segments.
    for (let n = 0; n < 50; n += 1) await Promise.all(Array.from({ length: 100 }, async () => run(await submit({ meta }))));
    await archiveAll();
    expect((await inRedis()).filter((key) => key.includes(':call:'))).toEqual([keys.call(callId)]);
    expect(await redis.hlen(`{p${partitionOf(callId)}}:kept`)).toBe(2);
    expect((await logLengths()).every((length) => length === 0)).toBe(true);

    const withoutArchive = await new CallStore(redis).read(callId);
    expect(withoutArchive).toMatchObject({ status: 'waiting_approval', arguments: { text: 'héllo' } });
    const version = (await new CallStore(redis).snapshot(callId))?.version ?? 0;
    const decided = await log.decideApproval({
      callId,
      guard: { by: 'command', version, commandId: 'c' },
      data: { decision: 'allow', scope: 'once', digest },
      author,
    });
    expect(isApplied(decided)).toBe(true);
    await archiveAll();
    const claimed = await log.claim({ callId, attempt: 1, ...WORKER });
    expect(claimed).toMatchObject({ code: 'OK', submitted: { arguments: { text: 'héllo' }, tool: 'echo' } });
    await log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data: endOf('completed'), author });
    await archiveAll();
    expect(await inRedis()).toEqual([]);
    expect(await new CallStore(redis, new ArchivedLog(archive)).read(callId)).toMatchObject({ status: 'ended', outcome: 'completed' });
  });

  it.each(['that has sealed', 'that has started since'])('trims the keys of ended calls alone, in a process %s', async (process) => {
    const meta = { tenantId: 'acme', tool: 'echo', sessionId: 's' };
    const open = await submit({ meta });
    const name = partitionOf(open);
    const ended = await run(
      await submit({
        meta,
        submitted: {
          ...aSubmission({ argumentsRef: { ref: 'arguments', sha256: 'a'.repeat(64), bytes: 9, preview: '{' } }),
          arguments: undefined,
        },
        argumentsBlob: '{"text":1}',
      }),
      2,
    );
    await new BlobStore(redis).put(ended, 'arguments', Buffer.from('{"text":1}'));
    const window = { maxAgeMs: 3_600_000, maxCalls: 100 };
    const start = () => new PartitionArchiver(redis, archive, name, window);
    const trimmed = async (sealing: PartitionArchiver, nowMs: number) => {
      while (await sealing.step({ nowMs, segmentMs: 0, isFull: false }));
      expect(await inRedis()).not.toEqual([]);
      const trimming = process === 'that has sealed' ? sealing : start();
      while (await trimming.step({ nowMs: nowMs + 20_000, segmentMs: 0, isFull: true }));
      return inRedis();
    };
    const archiver = start();
    expect(await trimmed(archiver, Date.now())).toEqual([keys.call(open), keys.keptEntries(name)].toSorted());
    await run(open);
    expect(await trimmed(archiver, Date.now() + 20_000)).toEqual([]);
  });

  it('starts readers of the whole log at its first event', async () => {
    const ids = await Promise.all(Array.from({ length: 25 }, async () => run(await submit(), 2)));
    const reader = (source: LogReader) => Promise.all(NAMES.map((name) => readAll(source, name)));
    const before = await reader(new LogReader(redis));
    await archiveAll();
    await run(await submit());
    const after = await reader(new LogReader(redis, new ArchivedLog(archive)));
    expect(plain(after.map((entries, index) => entries.slice(0, before[index]?.length)))).toEqual(plain(before));
    expect(after.flat().length).toBe(before.flat().length + 3);
    expect(ids.length).toBe(25);
  });

  it('seals each event once, for any failure, with two processes', async () => {
    const ids: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      for (let n = 0; n < 10; n += 1) ids.push(await run(await submit(), n % 3));
      const flaky = failing(archive, round * 7 + 3);
      await Promise.all([archiveAll(flaky).catch(() => {}), archiveAll(failing(archive, round * 5 + 4)).catch(() => {})]);
    }
    await archiveAll();
    const archived = new ArchivedLog(archive);
    for (const name of NAMES) {
      const end = Number(await redis.get(keys.seq(name)));
      const seqs = (await archived.range(name, 1, end, Infinity)).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: end }, (_, index) => index + 1));
      await expectWholeChain(name, end);
    }
    const store = new CallStore(redis, archived);
    expect((await store.readMany(ids)).every((call) => call?.status === 'ended')).toBe(true);
    expect(await inRedis()).toEqual([]);
  });

  it('begins a new generation if Redis lost archived events', async () => {
    const meta = { tenantId: 'acme', tool: 'echo', sessionId: 's' };
    const first = await run(await submit({ meta }));
    const name = partitionOf(first);
    const archiver = archiverOf(name);
    const step = { nowMs: Date.now() + 10_000, segmentMs: 0, isFull: false };
    while (await archiver.step(step));
    const lost = await run(await submit({ meta }));
    while (await archiver.step(step));
    // Simulates a failover to a replica that lagged.
    for (const seq of [4, 5, 6]) await redis.xdel(keys.log(name), `${seq}-0`);
    await redis.set(keys.seq(name), 3);
    await redis.call('XSETID', keys.log(name), '3-0');
    await redis.del(keys.call(lost), keys.updateIndex(lost));
    const next = await run(await submit({ meta }));
    const other = archiverOf(name);
    while (await other.step({ ...step, nowMs: Date.now() + 7_200_000 }));

    const segment = await findSegment(archive, name, 4);
    expect(segment).toMatchObject({ generation: 2, fromSeq: 4, toSeq: 6 });
    await verifyArchive({ store: archive, report: (fault) => expect(fault).toBeUndefined() });
    const store = new CallStore(redis, new ArchivedLog(archive));
    expect(await Promise.all([first, lost, next].map(async (id) => (await store.read(id))?.status))).toEqual(['ended', undefined, 'ended']);
  });

  it('trims nothing into another archive', async () => {
    await run(await submit());
    await archiveAll();
    await run(await submit());
    const other = await openArchive(`file://${join(folder, 'other')}`);
    const failures = await Promise.all(
      NAMES.map((name) =>
        archiverOf(name, other)
          .step({ nowMs: Date.now() + 7_200_000, segmentMs: 0, isFull: true })
          .catch((error: unknown) => error),
      ),
    );
    expect(failures.some((failure) => failure instanceof SealingFault && failure.message.includes('check ARCHIVE_URL'))).toBe(true);
  });

  const expectWholeChain = async (name: string, end: number) => {
    let chain: string | undefined;
    for (let seq = 1; seq <= end;) {
      const segment = await findSegment(archive, name, seq);
      expect(segment?.fromSeq).toBe(seq);
      if (segment === undefined) return;
      if (chain !== undefined) expect(segment.prevChain).toBe(chain);
      expect((await loadSegment(archive, segment)).events.length).toBe(segment.count);
      chain = segment.chain;
      seq = segment.toSeq + 1;
    }
  };
});

async function readAll(source: LogReader, name: string) {
  const found: unknown[] = [];
  for (let seq = 1; ;) {
    const { entries } = await source.read(name, seq, 7);
    if (entries.length === 0) return found;
    found.push(...entries);
    seq = (entries.at(-1)?.seq ?? seq) + 1;
  }
}

/** Store that fails at the nth write, before or after its effect. */
function failing(store: ArchiveStore, nth: number): ArchiveStore {
  let count = 0;
  return {
    label: store.label,
    get: (name) => store.get(name),
    list: (prefix, options) => store.list(prefix, options),
    delete: (name) => store.delete(name),
    put: async (name, bytes) => {
      count += 1;
      if (count === nth && nth % 2 === 0) throw new Error('the store failed before');
      const result = await store.put(name, bytes);
      if (count === nth) throw new Error('the store failed after');
      return result;
    },
  };
}

/** Fields of an event that readers see. */
function shown({ partition, epoch, seq, callId, type, time, meta, json }: StoredEvent): unknown {
  return { partition, epoch, seq, callId, type, time, meta, json };
}

/** Copy without undefined members. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
