import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SubmittedData } from '#contracts';
import { createRedis, keys, partitionOf, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author } from '../../../../test/support/sample-calls.js';
import { EventLog } from '../event-log.js';
import type { CallMeta } from '../event-log.port.js';
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
  it('reads events after a place, at most so many, among those of other calls', async () => {
    const callId = await submit('events', { sessionId: 'one' });
    await Promise.all(Array.from({ length: 30 }, () => submit('events', { sessionId: 'one' })));
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    const write = (wseq: number) =>
      log.update({ callId, guard: { by: 'worker', fence: 1, wseq }, data: { update: wseq, content: [] }, author });
    for (let wseq = 1; wseq <= 5; wseq++) await write(wseq);
    const events = await store.events(callId);
    expect(events.map(({ type }) => type)).toEqual(['call.submitted', 'call.start', ...Array.from({ length: 5 }, () => 'call.update')]);
    const [, , third] = events;
    expect(await store.events(callId, { afterSeq: third?.seq ?? 0, limit: 2 })).toEqual(events.slice(3, 5));
    expect(await store.events('00-01JZ8C5W3Q4X9R7T2M6K8N0P0V')).toEqual([]);
  });

  it('reads them page by page, and looks at a bounded part of a busy partition for a page', async () => {
    const callId = await submit('pages', { sessionId: 'one' });
    const partition = partitionOf(callId);
    const busy = await submit('pages', { sessionId: 'one' });
    const seq = (await store.head(busy))?.lastSeq ?? 0;
    const [[, fields] = ['', []]] = await redis.xrange(keys.log(partition), `${seq}-0`, `${seq}-0`);
    const pipeline = redis.pipeline();
    for (let n = 1; n <= 12_000; n += 1) pipeline.xadd(keys.log(partition), `${seq + n}-0`, ...fields);
    await pipeline.exec();
    await redis.set(keys.seq(partition), seq + 12_000);
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });

    const pages: string[][] = [];
    for (let cursor: string | undefined; ;) {
      const page = await store.eventPage(callId, { cursor, limit: 1 });
      pages.push(page.events.map(({ type }) => type));
      if (page.nextCursor === undefined) break;
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([['call.submitted'], [], ['call.start']]);
    expect(await store.eventPage('00-01JZ8C5W3Q4X9R7T2M6K8N0P0V', { limit: 1 })).toEqual({ events: [] });
    await expect(store.eventPage(callId, { cursor: 'rubbish', limit: 1 })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(store.eventPage(callId, { cursor: `9.${Number(partition)}.1`, limit: 1 })).rejects.toMatchObject({ code: 'conflict' });
  });
});
