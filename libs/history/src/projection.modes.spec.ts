import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { EventLog, LogReader } from '#event-log';
import type { LogSource } from './log-source.port.js';
import { createRedis, keys, partitionName, partitionOf, type RedisConnection } from '#redis';
import { eventually } from '../../../test/support/eventually.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { aCall, aSubmission, author } from '../../../test/support/sample-calls.js';
import { openHistoryDatabase, SCHEMA, type HistoryDatabase } from './database/history-database.js';
import { migrateHistory } from './database/migrate-history.js';
import { HistoryProjector } from './write/history-projector.js';

const PARTITIONS = 2;
const TABLES = ['calls', 'sessions', 'totals', 'positions'] as const;

describe('the rows of the history', () => {
  let server: RedisServer;
  let postgres: TestPostgres;
  let redis: RedisConnection;
  let log: EventLog;
  let reader: LogReader;
  let db: HistoryDatabase;
  const open = () =>
    openHistoryDatabase({ url: postgres.url, name: 'test', connections: 4, statementTimeoutMs: 10_000, onError: () => {} });

  beforeAll(async () => {
    [server, postgres] = await Promise.all([startRedisServer(), startTestPostgres()]);
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    reader = new LogReader(redis);
    db = open();
    await migrateHistory(db);
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await db.destroy();
    await Promise.all([server.stop(), postgres.stop()]);
  });

  const projector = (source: LogSource, batch: number) => new HistoryProjector({ db, log: source, partitions: PARTITIONS, batch });
  const catchUp = async () => {
    const last = projector(reader, 1_000);
    // The server may still be ending a broken connection, whose batch locks its partition.
    await eventually(async () => {
      while (await last.round());
      const { rows: positions } = await sql<{ partition: string; seq: number }>`select partition, seq from positions`.execute(db);
      const ends = await Promise.all(positions.map(async ({ partition, seq }) => (await reader.end(partition)) === seq));
      return positions.length === PARTITIONS && ends.every(Boolean);
    }, 'the projector to come to the end of the log');
  };
  const rows = async () => {
    const tables = await Promise.all(
      TABLES.map(async (table) => {
        const { rows: found } = await sql`select to_jsonb(t) - 'updated_at' as row from ${sql.table(table)} t order by 1`.execute(db);
        return [table, found] as const;
      }),
    );
    return Object.fromEntries(tables);
  };
  const rebuild = async () => {
    for (const table of TABLES) await sql`truncate ${sql.table(table)}`.execute(db);
    await catchUp();
  };

  const act = async (callIds: string[], what: 'submit' | 'start' | 'fail' | 'cancel', which: number) => {
    const callId = callIds[which % Math.max(1, callIds.length)];
    if (what === 'submit' || callId === undefined) {
      const sessionId = `s${which % 3}`;
      const created = log.newCallId('acme', sessionId);
      const [parentCallId] = which % 2 === 0 ? callIds.slice(-1) : [];
      const submitted = aSubmission(parentCallId === undefined ? {} : { parentCallId });
      await log.accept(aCall(created, { meta: { tenantId: 'acme', tool: 'echo', sessionId, agentId: `a${which % 2}` }, submitted }));
      callIds.push(created);
    } else if (what === 'start') await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    else {
      const error = what === 'fail' ? ({ code: 'tool_failed', message: `line ${which}`, retryable: false } as const) : undefined;
      const end = { outcome: what === 'fail' ? 'failed' : 'completed', attempts: 1, runMs: which, ...(error && { error }) } as const;
      await log.end({ callId, guard: { by: 'worker', fence: 1, writeSeq: 1 }, data: end, author });
    }
  };

  it('writes the same rows as a rebuild from zero, after any failures and with any number of projectors', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('submit', 'start', 'fail', 'cancel'), which: fc.nat(20) }),
      fc.record({ kind: fc.constantFrom('project', 'projectTwice', 'dieInLog', 'dieInDatabase'), which: fc.integer({ min: 1, max: 5 }) }),
    );
    const callIds: string[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        for (const { kind, which } of steps) {
          if (kind === 'project') await projector(reader, which).round();
          else if (kind === 'projectTwice') await Promise.all([projector(reader, which).round(), projector(reader, which + 1).round()]);
          else if (kind === 'dieInLog')
            await projector(dyingAfter(reader, which), which)
              .round()
              .catch(() => {});
          else if (kind === 'dieInDatabase') await dieInDatabase(which);
          else await act(callIds, kind, which);
        }
        await catchUp();
        const live = await rows();
        await rebuild();
        expect(await rows()).toEqual(live);
        expect(live['calls']).toHaveLength(callIds.length);
      }),
      { numRuns: 25 },
    );
  });

  /** Makes the server end the projector's connection during the write of a batch. */
  const dieInDatabase = async (batch: number) => {
    const other = open();
    const kill: LogSource = {
      end: (partition) => reader.end(partition),
      read: async (partition, from, limit) => {
        const read = await reader.read(partition, from, limit);
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dies'`.execute(other);
        return read;
      },
    };
    const dying = openHistoryDatabase({ url: postgres.url, name: 'dies', connections: 2, statementTimeoutMs: 5_000, onError: () => {} });
    await new HistoryProjector({ db: dying, log: kill, partitions: PARTITIONS, batch }).round().catch(() => {});
    await Promise.all([dying.destroy(), other.destroy()]);
  };

  it.each(['read', 'end'] as const)('continues with the rows of other partitions when %s of one fails, and reports it', async (fails) => {
    const written: string[] = [];
    while (new Set(written.map((id) => partitionOf(id))).size < PARTITIONS) {
      const callId = log.newCallId('acme', `s${written.length}`);
      await log.accept(aCall(callId, { meta: { tenantId: 'acme', tool: 'echo', sessionId: 's' }, submitted: aSubmission() }));
      written.push(callId);
    }
    const broken = partitionName(0);
    const refuse = (partition: string) => (partition === broken ? Promise.reject(new Error('cannot be read')) : undefined);
    const source: LogSource = {
      read: (partition, from, limit) => (fails === 'read' && refuse(partition)) || reader.read(partition, from, limit),
      end: (partition) => (fails === 'end' && refuse(partition)) || reader.end(partition),
    };
    await expect(projector(source, 1_000).round()).rejects.toThrow('cannot be read');
    const stored = (await db.selectFrom('calls').select('id').execute()).map(({ id }) => id);
    expect(written.filter((id) => !stored.includes(id)).map((id) => partitionOf(id))).toEqual(
      written.map((id) => partitionOf(id)).filter((partition) => partition === broken),
    );
    await catchUp();
  });

  it('rewrites the rows after the log was replaced', async () => {
    await catchUp();
    const [partition] = [partitionName(0)];
    await sql`update positions set mark = 'another log'`.execute(db);
    const before = await rows();
    await catchUp();
    const after = await rows();
    expect(after['calls']).toEqual(before['calls']);
    expect(after['sessions']).toEqual(before['sessions']);
    await redis.incr(keys.epoch(partition));
    await catchUp();
    const { rows: positions } = await sql<{ epoch: number }>`select epoch from positions where partition = ${partition}`.execute(db);
    expect((await rows())['calls']).toEqual(before['calls']);
    expect(positions[0]?.epoch).toBe((await reader.read(partition, 1, 1)).epoch);
  });

  it('restores all rows after the server lost its last commits, including the table of a week', async () => {
    const submitted: string[] = [];
    const submitToEach = async () => {
      for (const wanted of Array.from({ length: PARTITIONS }, (_, n) => partitionName(n))) {
        let callId = log.newCallId('acme', 's0');
        for (let n = 1; partitionOf(callId) !== wanted; n++) callId = log.newCallId('acme', `s${n}`);
        await log.accept(aCall(callId, { meta: { tenantId: 'acme', tool: 'echo', sessionId: 's' }, submitted: aSubmission() }));
        submitted.push(callId);
      }
    };
    const running = projector(reader, 1_000);
    await submitToEach();
    while (await running.round());
    const { rows: weeks } = await sql<{
      name: string;
    }>`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'calls'::regclass`.execute(db);
    for (const { name } of weeks) await sql`drop table ${sql.raw(name)}`.execute(db);
    await sql`truncate sessions, totals, positions`.execute(db);
    await submitToEach();
    while (await running.round());
    expect((await rows())['calls']).toEqual(expect.arrayContaining(submitted.map((id) => ({ row: expect.objectContaining({ id }) }))));
    const live = await rows();
    await rebuild();
    expect(await rows()).toEqual(live);
  });

  it('creates the tables of the history from any number of processes at once', async () => {
    await sql`drop schema ${sql.id(SCHEMA)} cascade`.execute(db);
    const databases = [open(), open(), open()];
    await Promise.all(databases.map(migrateHistory));
    await Promise.all(databases.map((database) => database.destroy()));
    await catchUp();
    expect((await rows())['calls']?.length).toBeGreaterThan(0);
  });
});

/** Log that fails after a number of reads. */
function dyingAfter(log: LogSource, reads: number): LogSource {
  let left = reads;
  return {
    end: (partition) => log.end(partition),
    read: (partition, from, limit) => (left-- > 0 ? log.read(partition, from, limit) : Promise.reject(new Error('the log is away'))),
  };
}
