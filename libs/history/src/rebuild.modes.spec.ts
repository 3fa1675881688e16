import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { ListCallsQuery } from '#contracts';
import { EventLog, LogReader } from '#event-log';
import { createRedis, keys, type RedisConnection } from '#redis';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { appendRaw } from '../../../test/support/raw-log.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author } from '../../../test/support/sample-calls.js';
import { openHistoryDatabase, type HistoryDatabase } from './database/history-database.js';
import { migrateHistory } from './database/migrate-history.js';
import type { EventSource } from './log-source.port.js';
import { CallList } from './query/call-list.js';
import { HistoryProjector } from './write/history-projector.js';
import { EventsMissing, rebuildHistory } from './write/rebuild-history.js';

const PARTITIONS = 2;
const TENANT = 'acme';

describe('a rebuild of the history', () => {
  let server: RedisServer;
  let postgres: TestPostgres;
  let redis: RedisConnection;
  let log: EventLog;
  let reader: LogReader;
  let db: HistoryDatabase;
  let list: CallList;

  beforeAll(async () => {
    [server, postgres] = await Promise.all([startRedisServer(), startTestPostgres()]);
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    reader = new LogReader(redis);
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 8, statementTimeoutMs: 10_000, onError: () => {} });
    await migrateHistory(db);
    list = new CallList(db, reader, PARTITIONS);
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await db.destroy();
    await Promise.all([server.stop(), postgres.stop()]);
  });
  beforeEach(async () => {
    for (let n = 0; n < 30; n++) await submit(n);
    await project();
  });

  const submit = async (n: number) => {
    const sessionId = `s${n % 5}`;
    const callId = log.newCallId(TENANT, sessionId);
    await log.accept(aCall(callId, { meta: { tenantId: TENANT, tool: 'echo', sessionId }, submitted: aSubmission() }));
    if (n % 3 === 0) return;
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    const data = {
      outcome: 'failed',
      attempts: 1,
      runMs: n,
      error: { code: 'tool_failed', message: `line ${n}`, retryable: false },
    } as const;
    await log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data, author });
    if (n % 7 === 0) await appendRaw(redis, { callId, type: 'call.end', data: {} });
  };
  const projector = () => new HistoryProjector({ db, log: reader, partitions: PARTITIONS, batch: 7 });
  const project = async () => {
    const one = projector();
    while (await one.round());
  };
  /** Every column of every row as text, except the time of a position. */
  const rows = async () => {
    const tables = ['calls', 'sessions', 'totals', 'positions'].map(async (table) => {
      const { rows: found } = await sql<{
        row: string;
      }>`select (to_jsonb(t) - 'updated_at')::text as row from ${sql.table(table)} t order by 1`.execute(db);
      return [table, found.map(({ row }) => row)] as const;
    });
    return Object.fromEntries(await Promise.all(tables));
  };
  const page = async () => {
    const { calls, behind, total } = await list.page(TENANT, ListCallsQuery.parse({ limit: 200 }));
    return { ids: calls.map(({ id }) => id), behind, total };
  };
  /** Source that calls `atRead` before each read. */
  const watched = (atRead: () => Promise<unknown>): EventSource => ({
    first: (partition) => reader.first(partition),
    end: (partition) => reader.end(partition),
    read: async (...place) => {
      await atRead();
      return reader.read(...place);
    },
  });

  it('rebuilds the same rows, byte by byte, after any damage', async () => {
    const before = await rows();
    await sql`update calls set note = 'changed', words = 'changed' where id in (select id from calls limit 7)`.execute(db);
    await sql`delete from calls where id in (select id from calls limit 5)`.execute(db);
    await sql`delete from totals`.execute(db);
    await sql`update sessions set calls = 0, failed = 99`.execute(db);
    await sql`delete from positions where partition = '00'`.execute(db);
    const rebuilt: number[] = [];
    await rebuildHistory({
      db,
      source: reader,
      partitions: PARTITIONS,
      batch: 10,
      onPartition: ({ entries }) => void rebuilt.push(entries),
    });
    expect(await rows()).toEqual(before);
    expect(rebuilt).toEqual([await reader.end('00'), await reader.end('01')]);
  });

  it('shows all calls in lists during a rebuild, while projectors run', async () => {
    const before = { rows: await rows(), page: await page() };
    let looks = 0;
    const source = watched(async () => {
      looks++;
      expect(await page()).toEqual(before.page);
      await Promise.all([projector().round(), projector().round()]);
    });
    await rebuildHistory({ db, source, partitions: PARTITIONS, batch: 20 });
    expect(looks).toBeGreaterThan(4);
    expect(await rows()).toEqual(before.rows);
  });

  it('rebuilds calls including those submitted meanwhile', async () => {
    let made = 0;
    const source = watched(async () => {
      if (made < 20) await submit(made++);
      expect((await page()).behind).toBeUndefined();
    });
    const stopped = new AbortController();
    const running = [projector(), projector()].map(async (one) => {
      while (!stopped.signal.aborted) await one.round(stopped.signal).catch(() => {});
    });
    await rebuildHistory({ db, source, partitions: PARTITIONS, batch: 5 });
    stopped.abort();
    await Promise.all(running);
    await project();
    const live = await rows();
    expect(live['calls']).toHaveLength((await page()).ids.length);
    await rebuildHistory({ db, source: reader, partitions: PARTITIONS });
    expect(await rows()).toEqual(live);
  });

  it('changes nothing if a rebuild is stopped midway', async () => {
    const before = await rows();
    const stop = new AbortController();
    let reads = 0;
    const source = watched(async () => {
      if (++reads === 3) stop.abort();
      return Promise.resolve();
    });
    await expect(rebuildHistory({ db, source, partitions: PARTITIONS, batch: 5, signal: stop.signal })).rejects.toThrow('aborted');
    expect(await rows()).toEqual(before);
  });

  it('refuses a rebuild without changes if the log has lost its beginning', async () => {
    const before = await rows();
    await redis.xdel(keys.log('01'), '1-0');
    const refused = rebuildHistory({ db, source: reader, partitions: PARTITIONS });
    await expect(refused).rejects.toThrow(EventsMissing);
    await expect(refused).rejects.toThrow('The log of partition 01 begins with event 2');
    expect(await rows()).toEqual(before);
  });
});
