import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { lastSegment, openArchive, type ArchiveStore } from '#archive';
import { EventLog } from '#event-log';
import { createRedis, keys, measureMemory, partitionName, type RedisConnection } from '#redis';
import { eventually } from '../../../test/support/eventually.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { aCall, author, endOf } from '../../../test/support/sample-calls.js';
import { Archiver } from './archiver.js';
import { readPosition } from './seal/archive-position.js';

const NAME = partitionName(0);
/** Age above the least age of trimmed calls. */
const YOUNG_MS = 16_000;

let server: RedisServer;
let redis: RedisConnection;
let log: EventLog;
let folder: string;
let store: ArchiveStore;

beforeAll(async () => {
  server = await startRedisServer();
  redis = createRedis(server.url);
  log = await EventLog.open(redis, { partitions: 1 });
  folder = mkdtempSync(join(tmpdir(), 'toolyard-archiver-'));
  store = await openArchive(`file://${folder}`);
});
afterAll(async () => {
  await log.close();
  redis.disconnect();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('keeps archived calls within the hot window while Redis has room, and trims them above 60 % of maxmemory', async () => {
  const callId = log.newCallId('acme');
  await log.accept(aCall(callId));
  await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
  await log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data: endOf('completed'), author });
  const hotWindow = { maxAgeMs: 3_600_000, maxCalls: 1_000 };
  const archiver = new Archiver({ redis, store, partitions: 1, hotWindow, segmentMs: 0 });
  const { usedBytes } = await measureMemory(redis);

  await redis.config('SET', 'maxmemory', usedBytes * 2);
  const sealed = async () => {
    await archiver.round();
    return lastSegment(store, NAME);
  };
  const { lastTime } = await eventually(sealed, 'the events to be sealed');
  const now = async () => Number((await redis.time())[0]) * 1_000;
  await eventually(async () => (await now()) > lastTime + YOUNG_MS, 'the call to be old enough', 60_000);
  while (await archiver.round());
  expect(await readPosition(redis, NAME)).toMatchObject({ sealedSeq: 3, trimmedSeq: 0 });
  expect(await redis.exists(keys.call(callId))).toBe(1);

  await redis.config('SET', 'maxmemory', Math.round(usedBytes / 0.65));
  while (await archiver.round());
  expect(await readPosition(redis, NAME)).toMatchObject({ sealedSeq: 3, trimmedSeq: 3 });
  expect(await redis.exists(keys.call(callId))).toBe(0);
}, 120_000);
