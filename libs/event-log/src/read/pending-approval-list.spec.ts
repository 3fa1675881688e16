import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Risk } from '#contracts';
import { createRedis, keys, partitionNames, partitionOf, type RedisConnection } from '#redis';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author, endOf } from '../../../../test/support/sample-calls.js';
import { EventLog } from '../event-log.js';
import { CallStore } from './call-store.js';
import { listPendingApprovals } from './pending-approval-list.js';
import { listPendingApprovalsByRisk } from './pending-approvals-by-risk.js';

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

  const names = partitionNames(PARTITIONS);
  const ask = async (tenantId: string, sessionId?: string, risk?: Risk) => {
    const callId = log.newCallId(tenantId, sessionId);
    const followUp = { kind: 'approval' as const, data: { reasons: ['writes files'], digest: 'dig', expiresInMs: 60_000 } };
    const meta = { tenantId, tool: 'echo', ...(sessionId === undefined ? {} : { sessionId }) };
    await log.accept(
      aCall(callId, { meta, submitted: aSubmission({ tool: 'echo', decision: { effect: 'ask', reasons: [], risk } }), followUp }),
    );
    return callId;
  };
  const askMany = (tenantId: string, count: number, sessionId?: string) =>
    Promise.all(Array.from({ length: count }, () => ask(tenantId, sessionId)));
  const page = (tenantId: string, limit: number, cursor?: string) => listPendingApprovals(redis, names, tenantId, { limit, cursor });
  const pageByRisk = (tenantId: string, limit: number, cursor?: string, risk?: readonly Risk[]) =>
    listPendingApprovalsByRisk(redis, new CallStore(redis), names, tenantId, { limit, cursor, risk });
  /** Reads all pages; `between` runs after each. */
  const pages = async (tenantId: string, limit: number, read = page, between = async (_page: number): Promise<void> => {}) => {
    const found: (readonly string[])[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const { callIds, nextCursor } = await read(tenantId, limit, cursor);
      found.push(callIds);
      cursor = nextCursor;
      await between(found.length - 1);
    }
    return found;
  };
  const askedAt = async (callId: string) => Number(await redis.zscore(keys.pendingApprovals(partitionOf(callId)), callId));

  it('lists waiting calls of a tenant newest first, each once, in pages over all partitions', async () => {
    const ids = await askMany('paged', 23);
    const found = await pages('paged', 5);
    expect(found.map(({ length }) => length)).toEqual([5, 5, 5, 5, 3]);
    expect(found.flat().toSorted()).toEqual(ids.toSorted());
    const times = await Promise.all(found.flat().map(askedAt));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('lists each of many waiting calls of one partition and one millisecond once', async () => {
    const ids = await askMany('same-time', 150, 'one');
    const set = keys.pendingApprovals(partitionOf(ids[0] ?? ''));
    await redis.zadd(set, 'XX', ...ids.flatMap((id) => [5, id]));
    const found = await pages('same-time', 40);
    expect(found.map(({ length }) => length)).toEqual([40, 40, 40, 30]);
    expect(found.flat()).toEqual(ids.toSorted().toReversed());
  });

  it('lists neither decided calls as waiting, nor calls that a lost write left in the set', async () => {
    const [decided, left, kept] = [await ask('ended'), await ask('ended'), await ask('ended')];
    const guard = { by: 'command', version: 2, commandId: 'd' } as const;
    await log.decideApproval({ callId: decided, guard, data: { decision: 'allow', scope: 'once', digest: 'dig' }, author });
    const score = await askedAt(left);
    await log.end({ callId: left, guard, data: endOf('cancelled'), author });
    await redis.zadd(keys.pendingApprovals(partitionOf(left)), score, left);
    await redis.zadd(keys.pendingApprovals('00'), score, '00-01JZ8C5W3Q4X9R7T2M6K8N0P1V');
    expect(await pages('ended', 1)).toEqual([[kept]]);
  });

  it('lists waiting calls by risk and age, each once, while calls arrive and leave between pages', async () => {
    const risk = fc.constantFrom('high', 'medium', 'low', undefined);
    const one = fc.record({ risk, session: fc.constantFrom('s1', 's2', 's3'), askedAt: fc.integer({ min: 1, max: 4 }) });
    const change = fc.record({ comes: fc.array(one, { maxLength: 2 }), goes: fc.nat(30) });
    let made = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(one, { maxLength: 25 }),
        fc.array(change, { maxLength: 5 }),
        fc.integer({ min: 1, max: 6 }),
        async (first, changes, limit) => {
          const tenantId = `by-risk-${made++}`;
          const known = new Map<string, string>();
          const come = async (calls: typeof first) => {
            for (const each of calls) {
              const callId = await ask(tenantId, each.session, each.risk);
              await redis.zadd(keys.pendingApprovals(partitionOf(callId)), 'XX', each.askedAt, callId);
              known.set(callId, `${['high', 'medium', 'low', undefined].indexOf(each.risk)} ${each.askedAt} ${callId}`);
            }
          };
          await come(first);
          const stay = new Set(known.keys());
          const found = await pages(tenantId, limit, pageByRisk, async (n) => {
            const { comes, goes } = changes[n] ?? { comes: [], goes: -1 };
            await come(comes);
            const gone = [...stay][goes];
            if (gone === undefined) return;
            const guard = { by: 'command', version: 1, commandId: 'g' } as const;
            await log.end({ callId: gone, guard, data: endOf('cancelled'), author });
            stay.delete(gone);
          });
          const listed = found.flat();
          const order = listed.map((callId) => known.get(callId) ?? callId);
          expect(order).toEqual([...new Set(order)].sort());
          expect([...stay].filter((callId) => !listed.includes(callId))).toEqual([]);
          expect(found.filter(({ length }) => length > limit)).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('lists waiting calls of the given risks, without an empty last page', async () => {
    const [low, high, medium] = [await ask('some', 'a', 'low'), await ask('some', 'b', 'high'), await ask('some', 'c', 'medium')];
    await ask('some', 'd');
    const highAndLow = (tenantId: string, limit: number, cursor?: string) => pageByRisk(tenantId, limit, cursor, ['low', 'high']);
    expect(await pages('some', 1, highAndLow)).toEqual([[high], [low]]);
    expect((await pageByRisk('some', 3)).callIds).toEqual([high, medium, low]);
  });

  it('refuses a foreign cursor of waiting calls, and one of another order', async () => {
    await askMany('ordered', 2);
    const [byTime, byRisk] = [(await page('ordered', 1)).nextCursor, (await pageByRisk('ordered', 1)).nextCursor];
    for (const cursor of ['zzz', byRisk]) await expect(page('ordered', 5, cursor)).rejects.toMatchObject({ code: 'invalid_request' });
    for (const cursor of ['zzz', '9.1.zz', '0.zz', byTime]) {
      await expect(pageByRisk('ordered', 5, cursor)).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });

  it('lists waiting calls of one tenant behind thousands of another’s', async () => {
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
    const byRisk = await pages('few', 10, pageByRisk);
    expect(byRisk.flat()).toEqual([first]);
    expect(byRisk.length).toBeGreaterThan(4);
  });
});
