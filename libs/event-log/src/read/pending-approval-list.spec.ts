import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis, keys, partitionName, partitionOf, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author, endOf } from '../../../../test/support/sample-calls.js';
import { EventLog } from '../event-log.js';
import { listPendingApprovals } from './pending-approval-list.js';

const PARTITIONS = 4;

describe('the calls of a tenant that wait for a person', () => {
  let server: RedisServer;
  let redis: RedisConnection;
  let log: EventLog;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await server.stop();
  });

  const names = Array.from({ length: PARTITIONS }, (_unused, index) => partitionName(index));
  const ask = async (tenantId: string, sessionId?: string) => {
    const callId = log.newCallId(tenantId, sessionId);
    const followUp = { kind: 'approval' as const, data: { reasons: ['writes files'], digest: 'dig', expiresInMs: 60_000 } };
    const meta = { tenantId, tool: 'echo', ...(sessionId === undefined ? {} : { sessionId }) };
    await log.accept(aCall(callId, { meta, submitted: aSubmission({ tool: 'echo' }), followUp }));
    return callId;
  };
  const askMany = (tenantId: string, count: number, sessionId?: string) =>
    Promise.all(Array.from({ length: count }, () => ask(tenantId, sessionId)));
  const page = (tenantId: string, limit: number, cursor?: string) => listPendingApprovals(redis, names, tenantId, { limit, cursor });
  const pages = async (tenantId: string, limit: number) => {
    const found: (readonly string[])[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const { callIds, nextCursor } = await page(tenantId, limit, cursor);
      found.push(callIds);
      cursor = nextCursor;
    }
    return found;
  };
  const askedAt = async (callId: string) => Number(await redis.zscore(keys.pendingApprovals(partitionOf(callId)), callId));

  it('are listed newest first, each once, in pages over all partitions', async () => {
    const ids = await askMany('paged', 23);
    const found = await pages('paged', 5);
    expect(found.map(({ length }) => length)).toEqual([5, 5, 5, 5, 3]);
    expect(found.flat().toSorted()).toEqual(ids.toSorted());
    const times = await Promise.all(found.flat().map(askedAt));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('are listed each once when many of one partition were asked about in the same millisecond', async () => {
    const ids = await askMany('same-time', 150, 'one');
    const set = keys.pendingApprovals(partitionOf(ids[0] ?? ''));
    await redis.zadd(set, 'XX', ...ids.flatMap((id) => [5, id]));
    const found = await pages('same-time', 40);
    expect(found.map(({ length }) => length)).toEqual([40, 40, 40, 30]);
    expect(found.flat()).toEqual(ids.toSorted().toReversed());
  });

  it('are not those that were decided, nor what an older release left in the set', async () => {
    const [decided, left, kept] = [await ask('ended'), await ask('ended'), await ask('ended')];
    const guard = { by: 'command', version: 2, commandId: 'd' } as const;
    await log.decideApproval({ callId: decided, guard, data: { decision: 'allow', scope: 'once', digest: 'dig' }, author });
    const score = await askedAt(left);
    await log.end({ callId: left, guard, data: endOf('cancelled'), author });
    await redis.zadd(keys.pendingApprovals(partitionOf(left)), score, left);
    await redis.zadd(keys.pendingApprovals('00'), score, '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V');
    expect(await pages('ended', 1)).toEqual([[kept]]);
  });

  it('rejects a cursor that is not from here', async () => {
    await expect(page('paged', 5, 'zzz')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('are those of this tenant alone, also behind thousands of another one', async () => {
    const [first] = await askMany('few', 1, 'session');
    const set = keys.pendingApprovals(partitionOf(first ?? ''));
    const flood = await ask('many', 'flood');
    const packed = await redis.getBuffer(keys.call(flood));
    if (packed === null) throw new Error('the call of the flood has no snapshot');
    const pipeline = redis.pipeline();
    for (let n = 0; n < 21_000; n += 1) {
      const callId = `${partitionOf(first ?? '')}-01JZ8C5W3Q4X9R7T2M6K8${String(n).padStart(5, '0')}`;
      pipeline.set(keys.call(callId), packed);
      pipeline.zadd(set, Date.now() + 60_000, callId);
    }
    await pipeline.exec();
    expect(await page('few', 10)).toEqual({ callIds: [], nextCursor: expect.any(String) });
    expect((await pages('few', 10)).flat()).toEqual([first]);
  });
});
