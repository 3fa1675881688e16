import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { ListCallsQuery } from '#contracts';
import { EventLog, LogReader } from '#event-log';
import { createRedis, type RedisConnection } from '#redis';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.js';
import { startRedisServer, type RedisServer } from '../../../../test/support/redis-server.mjs';
import { aCall, author } from '../../../../test/support/sample-calls.js';
import { CallList } from '../query/call-list.js';
import { Numbers } from '../query/numbers.js';
import { SessionList } from '../query/session-list.js';
import { HistoryProjector } from '../write/history-projector.js';
import { openHistoryDatabase, type HistoryDatabase } from './history-database.js';
import { migrateHistory } from './migrate-history.js';

const TENANT = 'acme';
const TABLES = ['calls', 'sessions', 'totals', 'positions', 'hours', 'summed_hours'];

describe('tables that a newer release has added columns to', () => {
  let server: RedisServer;
  let postgres: TestPostgres;
  let redis: RedisConnection;
  let log: EventLog;
  let db: HistoryDatabase;

  beforeAll(async () => {
    [server, postgres] = await Promise.all([startRedisServer(), startTestPostgres()]);
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: 1 });
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 4, statementTimeoutMs: 10_000, onError: () => {} });
    await migrateHistory(db);
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await db.destroy();
    await Promise.all([server.stop(), postgres.stop()]);
  });

  const submit = async () => {
    const callId = log.newCallId(TENANT, 's');
    await log.accept(aCall(callId, { meta: { tenantId: TENANT, tool: 'echo', sessionId: 's' } }));
    return callId;
  };

  it('reads and writes tables with unknown columns of a newer release, also at the begin of a week', async () => {
    for (const table of TABLES) {
      await sql`alter table ${sql.table(table)} add column added text, add column counted integer not null default 7`.execute(db);
    }
    await sql`alter table calls add column made text generated always as (tool || '!') stored`.execute(db);
    const reader = new LogReader(redis);
    const projector = new HistoryProjector({ db, log: reader, partitions: 1 });
    const callId = await submit();
    await projector.round();
    await log.claim({ callId, attempt: 1, leaseMs: 60_000, worker: 'w', author });
    await projector.round();
    const { calls } = await new CallList(db, reader, 1).page(TENANT, ListCallsQuery.parse({ q: 'echo' }));
    expect(calls).toMatchObject([{ id: callId, status: 'running' }]);
    const { sessions } = await new SessionList(db, reader, 1).page(TENANT, { limit: 5 });
    expect(sessions).toMatchObject([{ sessionId: 's', calls: 1, running: 1 }]);
    expect((await new Numbers(db, reader, 1).stats(TENANT, {})).now).toMatchObject({ running: 1 });
    const { rows } = await sql`select added, counted, made from calls`.execute(db);
    expect(rows).toEqual([{ added: null, counted: 7, made: 'echo!' }]);
  });

  it('refuses the start of an older projector when the newer release applied a migration', async () => {
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', now()::text)`.execute(db);
    await expect(migrateHistory(db)).rejects.toThrow('this one does not know 9999-later. Start the newer release.');
  });
});
