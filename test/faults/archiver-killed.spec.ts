import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive, verifyArchive, type ArchiveStore } from '#archive';
import { CallStore, EventLog, PartitionLog, type StreamEntry } from '#event-log';
import { createRedis, keys, partitionNames, type RedisConnection } from '#redis';
import { ArchivedLog, PartitionArchiver } from '#sealing';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { aCall, author, endOf } from '../support/sample-calls.js';

const PARTITIONS = 1;
const NAMES = partitionNames(PARTITIONS);
const FIXTURE = 'test/support/killed-archiver.fixture.mjs';
const AT_ONCE = 6;
const LATER = { nowMs: Date.now() + 7_200_000, segmentMs: 0, isFull: false };

describe('an archiver that is killed', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer({ settings: ['--databases', '1000'] });
  });
  afterAll(() => server.stop());

  it('loses and duplicates no event or call when an archiver is killed at any step and another continues', async () => {
    let finished = 0;
    for (let step = 1; finished === 0; step += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, offset) => step + offset);
      const ends = await Promise.all(some.map((at) => killedAt(`${server.url}/${at}`, at)));
      finished = ends.filter((end) => end !== 'killed').length;
    }
  });

  it('runs three archivers at once without conflicts', async () => {
    const installation = await Installation.open(`${server.url}/999`);
    await installation.run(20);
    const before = await installation.read();
    await Promise.all([installation.archiveHere(), archiveAt(installation, 0), archiveAt(installation, 0)]);
    await installation.archiveHere();
    expect(await installation.read()).toEqual(before);
    expect(await installation.faults()).toEqual([]);
    expect(await installation.inRedis()).toBe(0);
    await installation.close();
  });
});

/** Runs calls, an archiver that dies at the step, more calls, and an archiver that lives. */
async function killedAt(url: string, step: number): Promise<'killed' | 'finished'> {
  const installation = await Installation.open(url);
  try {
    await installation.run(6);
    const before = await installation.read();
    const end = await archiveAt(installation, step);
    expect([step, await installation.read()]).toEqual([step, before]);
    expect([step, await installation.faults()]).toEqual([step, []]);

    await installation.run(3);
    const whole = await installation.read();
    await installation.archiveHere();
    expect([step, await installation.read()]).toEqual([step, whole]);
    expect([step, await installation.faults()]).toEqual([step, []]);
    expect([step, await installation.inRedis()]).toEqual([step, 0]);
    return end;
  } finally {
    await installation.close();
  }
}

/** A process of its own; with step 0 it is not killed. */
async function archiveAt({ url, folder }: Installation, step: number): Promise<'killed' | 'finished'> {
  const child = spawn(process.execPath, [FIXTURE, url, folder, String(PARTITIONS), String(step)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('exit', (...end) => resolve(end)),
  );
  expect([code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL']);
  return signal === null ? 'finished' : 'killed';
}

/** Calls in a database of a Redis, and their archive. */
class Installation {
  private readonly ids: string[] = [];

  private constructor(
    readonly url: string,
    readonly folder: string,
    private readonly redis: RedisConnection,
    private readonly log: EventLog,
    private readonly store: ArchiveStore,
  ) {}

  static async open(url: string): Promise<Installation> {
    const redis = createRedis(url);
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-killed-'));
    const log = await EventLog.open(redis, { partitions: PARTITIONS });
    return new Installation(url, folder, redis, log, await openArchive(`file://${folder}`));
  }

  /** Calls with updates that end, and one that waits for approval. */
  async run(calls: number): Promise<void> {
    const meta = { tenantId: 'acme', tool: 'echo' };
    const waiting = this.log.newCallId('acme');
    const data = { reasons: [], digest: 'd'.repeat(64), expiresInMs: 60_000 };
    await this.log.accept(aCall(waiting, { meta, followUp: { kind: 'approval', data } }));
    this.ids.push(waiting);
    for (let n = 0; n < calls; n += 1) {
      const callId = this.log.newCallId('acme');
      await this.log.accept(aCall(callId));
      await this.log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
      const guard = (writeSeq: number) => ({ by: 'worker', fence: 1, writeSeq }) as const;
      await this.log.update({ callId, guard: guard(1), data: { update: 1, content: [] }, author });
      await this.log.end({ callId, guard: guard(2), data: endOf('completed'), author });
      this.ids.push(callId);
    }
  }

  /** Every entry of the log and every call, from Redis and archive together. */
  async read(): Promise<{ entries: StreamEntry[][]; calls: unknown[] }> {
    const archive = new ArchivedLog(this.store);
    const log = new PartitionLog(this.redis, archive);
    const calls = new CallStore(this.redis, archive);
    const entries = await Promise.all(NAMES.map((name) => log.range(name, 1, Number.MAX_SAFE_INTEGER)));
    for (const [index, name] of NAMES.entries()) {
      const seqs = (entries[index] ?? []).map(([id]) => Number.parseInt(id, 10));
      expect(seqs).toEqual(Array.from({ length: await log.end(name) }, (_, at) => at + 1));
    }
    const states = await Promise.all(this.ids.map(async (id) => ({ call: await calls.read(id), events: await calls.events(id) })));
    return { entries, calls: states.map((state): unknown => JSON.parse(JSON.stringify(state))) };
  }

  async faults(): Promise<unknown[]> {
    const faults: unknown[] = [];
    await verifyArchive({ store: this.store, report: (fault) => faults.push(fault) });
    return faults;
  }

  /** Archives like a living projector. */
  async archiveHere(): Promise<void> {
    for (const name of NAMES) {
      const archiver = new PartitionArchiver(this.redis, this.store, name, { maxAgeMs: 0, maxCalls: 0 });
      while (await archiver.step(LATER));
    }
  }

  /** Entries of the streams. */
  async inRedis(): Promise<number> {
    const lengths = await Promise.all(NAMES.map((name) => this.redis.xlen(keys.log(name))));
    return lengths.reduce((sum, length) => sum + length, 0);
  }

  async close(): Promise<void> {
    await this.log.close();
    this.redis.disconnect();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
