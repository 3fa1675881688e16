import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { SubmittedData } from '#contracts';
import { createRedis, keys, partitionOf, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author, endOf } from '../../../../test/support/sample-calls.js';
import { EventLog } from '../event-log.js';
import type { CallMeta } from '../event-log.port.js';
import { LogPager } from '../tail/log-pager.js';
import { CallStore } from './call-store.js';

const PARTITIONS = 8;

describe('the events of a call', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let log: EventLog;
  let store: CallStore;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    store = new CallStore(redis);
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await server.stop();
  });

  const submit = async (tenantId: string, meta: Partial<CallMeta> = {}, submission: Partial<SubmittedData> = {}) => {
    const callId = log.newCallId(tenantId, meta.sessionId);
    const tool = meta.tool ?? 'echo';
    await log.accept(aCall(callId, { meta: { tenantId, tool, ...meta }, submitted: aSubmission({ tool, ...submission }) }));
    return callId;
  };
  it('reads a limited number of events of a call after a position, among those of other calls', async () => {
    const callId = await submit('events', { sessionId: 'one' });
    await Promise.all(Array.from({ length: 30 }, () => submit('events', { sessionId: 'one' })));
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    const write = (writeSeq: number) =>
      log.update({ callId, guard: { by: 'worker', fence: 1, writeSeq }, data: { update: writeSeq, content: [] }, author });
    for (let writeSeq = 1; writeSeq <= 5; writeSeq++) await write(writeSeq);
    const events = await store.events(callId);
    expect(events.map(({ type }) => type)).toEqual(['call.submitted', 'call.start', ...Array.from({ length: 5 }, () => 'call.update')]);
    const [, , third] = events;
    expect(await store.events(callId, { afterSeq: third?.seq ?? 0, limit: 2 })).toEqual(events.slice(3, 5));
    expect(await store.events('00-01JZ8C5W3Q4X9R7T2M6K8N0P0V')).toEqual([]);
  });

  /** Entries of other calls that share the partition of `callId`: copies of one of them. */
  const crowd = async (callId: string, count: number) => {
    const partition = partitionOf(callId);
    const seq = Number(await redis.get(keys.seq(partition)));
    const other = ['h', `${partition}-01JZ8C5W3Q4X9R7T2M6K8N0P0V call.update 3 1700000000000 1 1`, 'm', '"tenantid":"x"', 'e', '"data":{}'];
    const pipeline = redis.pipeline();
    for (let n = 1; n <= count; n += 1) pipeline.xadd(keys.log(partition), `${seq + n}-0`, ...other);
    await pipeline.exec();
    await redis.set(keys.seq(partition), seq + count);
  };
  /** A call with ten events, 1,000 entries of other calls after each of the first nine. */
  const callInCrowd = async () => {
    const callId = await submit('crowd');
    await crowd(callId, 1_000);
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    for (let writeSeq = 1; writeSeq <= 7; writeSeq++) {
      await crowd(callId, 1_000);
      const guard = { by: 'worker' as const, fence: 1, writeSeq };
      if (writeSeq % 2 === 0) await log.progress({ callId, guard, data: { done: writeSeq, total: 7 }, author });
      else await log.update({ callId, guard, data: { update: writeSeq, content: [] }, author });
    }
    await crowd(callId, 1_000);
    await log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: 8 }, data: endOf('completed'), author });
    return callId;
  };
  /** Number of log entries that `read` reads. */
  const entriesRead = async (read: () => Promise<unknown>) => {
    const reads: Promise<unknown[]>[] = [];
    const { xrange } = redis;
    const spy = jest.spyOn(redis, 'xrange').mockImplementation((...args: Parameters<typeof xrange>) => {
      const reply = xrange.apply(redis, args);
      reads.push(reply);
      return reply;
    });
    await read();
    spy.mockRestore();
    return (await Promise.all(reads)).flat().length;
  };

  it('reads ten events among 9,000 entries of other calls by reading ten entries', async () => {
    const callId = await callInCrowd();
    const partition = Number(partitionOf(callId));
    const seqs = (await store.events(callId)).map(({ seq }) => seq);
    expect(seqs).toHaveLength(10);
    expect(await entriesRead(() => store.events(callId))).toBe(10);
    expect(await entriesRead(() => store.events(callId, { limit: 1 }))).toBe(1);
    expect(await entriesRead(() => store.eventPage(callId, { limit: 500 }))).toBe(10);
    expect(await entriesRead(() => store.eventPage(callId, { limit: 500, cursor: `1.${partition}.${seqs[6] ?? 0}` }))).toBe(3);
    const pager = new LogPager(redis);
    const from = { epoch: 1, seq: seqs[0] ?? 0 };
    const page = await pager.page(partition, from, Number(await redis.get(keys.seq(partitionOf(callId)))), callId);
    expect(page?.events.map(({ seq }) => seq)).toEqual(seqs.slice(1));
    expect(await entriesRead(() => pager.page(partition, from, (seqs[3] ?? 0) + 1, callId))).toBe(3);
  });

  it.each([
    ['is missing', () => Buffer.alloc(0)],
    ['lacks updates', (index: Buffer) => index.subarray(0, 9)],
    ['names more events than the call has', (index: Buffer) => Buffer.concat([index, Buffer.from([9, 9, 9])])],
    ['names entries of other calls', (index: Buffer) => index.map((byte, at) => (at % 3 === 0 ? byte ^ 1 : byte))],
    ['is cut off within an entry', (index: Buffer) => index.subarray(0, -1)],
  ])('reads the same events when the update index %s', async (_title, damage) => {
    const callId = await callInCrowd();
    const seqs = (await store.events(callId)).map(({ seq }) => seq);
    await redis.set(keys.updateIndex(callId), Buffer.from(damage((await redis.getBuffer(keys.updateIndex(callId))) ?? Buffer.alloc(0))));
    expect((await store.events(callId)).map(({ seq }) => seq)).toEqual(seqs);
    expect((await store.events(callId, { afterSeq: seqs[4] ?? 0, limit: 2 })).map(({ seq }) => seq)).toEqual(seqs.slice(5, 7));
    const pager = new LogPager(redis);
    const paged: number[] = [];
    for (let seq = 0; seq < (seqs[9] ?? 0);) {
      const page = await pager.page(Number(partitionOf(callId)), { epoch: 1, seq }, seqs[9] ?? 0, callId);
      paged.push(...(page?.events ?? []).map((event) => event.seq));
      seq = page?.seq ?? Infinity;
    }
    expect(paged).toEqual(seqs);
  });

  it('reads the events of a call by page, with a bounded scan of a busy partition without an index', async () => {
    const callId = await submit('pages');
    const partition = partitionOf(callId);
    await crowd(callId, 12_000);
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    await log.progress({ callId, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data: { done: 1, total: 1 }, author });
    const pagesOf = async () => {
      const pages: string[][] = [];
      for (let cursor: string | undefined; ;) {
        const page = await store.eventPage(callId, { cursor, limit: 1 });
        pages.push(page.events.map(({ type }) => type));
        if (page.nextCursor === undefined) return pages;
        cursor = page.nextCursor;
      }
    };
    expect(await pagesOf()).toEqual([['call.submitted'], ['call.start'], ['call.progress']]);
    await redis.del(keys.updateIndex(callId));
    expect(await pagesOf()).toEqual([['call.submitted'], [], ['call.start'], ['call.progress']]);
    expect(await store.eventPage('00-01JZ8C5W3Q4X9R7T2M6K8N0P0V', { limit: 1 })).toEqual({ events: [] });
    await expect(store.eventPage(callId, { cursor: 'rubbish', limit: 1 })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(store.eventPage(callId, { cursor: `9.${Number(partition)}.1`, limit: 1 })).rejects.toMatchObject({ code: 'conflict' });
  });
});
