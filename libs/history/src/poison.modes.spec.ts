import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { ListCallsQuery, type SubmittedData } from '#contracts';
import { EventLog, LogReader } from '#event-log';
import { telemetry } from '#observability';
import type { LogSource } from './log-source.port.js';
import { createRedis, type RedisConnection } from '#redis';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { startRedisServer, type RedisServer } from '../../../test/support/redis-server.mjs';
import { aCall, aSubmission } from '../../../test/support/sample-calls.js';
import { openHistoryDatabase, type HistoryDatabase } from './database/history-database.js';
import { migrateHistory } from './database/migrate-history.js';
import { CallList } from './query/call-list.js';
import { HistoryProjector } from './write/history-projector.js';

const PARTITIONS = 1;
const TENANT = 'acme';

describe('a call that the database refuses', () => {
  let server: RedisServer;
  let postgres: TestPostgres;
  let redis: RedisConnection;
  let log: EventLog;
  let db: HistoryDatabase;
  let list: CallList;
  let skipped: string[];

  beforeAll(async () => {
    [server, postgres] = await Promise.all([startRedisServer(), startTestPostgres()]);
    redis = createRedis(server.url);
    log = await EventLog.open(redis, { partitions: PARTITIONS });
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 4, statementTimeoutMs: 10_000, onError: () => {} });
    await migrateHistory(db);
    list = new CallList(db, new LogReader(redis), PARTITIONS);
  });
  afterAll(async () => {
    await log.close();
    redis.disconnect();
    await db.destroy();
    await Promise.all([server.stop(), postgres.stop()]);
  });
  beforeEach(() => {
    skipped = [];
  });

  const submit = async (submission: Partial<SubmittedData> = {}) => {
    const callId = log.newCallId(TENANT, 's');
    await log.accept(aCall(callId, { meta: { tenantId: TENANT, tool: 'echo', sessionId: 's' }, submitted: aSubmission(submission) }));
    return callId;
  };
  const project = async (source: LogSource = new LogReader(redis)) => {
    const onSkipped = (callId: string) => void skipped.push(callId);
    const projector = new HistoryProjector({ db, log: source, partitions: PARTITIONS, onSkipped });
    while (await projector.round());
  };
  const stored = async () => (await db.selectFrom('calls').select('id').execute()).map(({ id }) => id);
  const counted = async () => {
    const { rows } = await sql<{ calls: number }>`
      select calls from sessions union all select calls from totals`.execute(db);
    return rows.map(({ calls }) => calls);
  };

  it('stores and finds a call with words cut within a surrogate pair', async () => {
    // The 32nd UTF-16 unit is the first half of a surrogate pair.
    const word = `x${'𠀀'.repeat(40)}`;
    const odd = await submit({ arguments: { text: word }, labels: { a: word }, toolCallId: word });
    const usual = await submit();
    await project();
    expect(await stored()).toEqual(expect.arrayContaining([odd, usual]));
    expect((await list.page(TENANT, ListCallsQuery.parse({ q: word }))).calls.map(({ id }) => id)).toEqual([odd]);
  });

  it('stores a call without its texts when the database refuses these, and all others', async () => {
    // A constraint of the table refuses the row, in place of a limit of PostgreSQL.
    await sql`alter table calls add constraint no_poison check (preview not like '%poison%')`.execute(db);
    const before = await submit({ arguments: { text: 'fine' } });
    const refused = await submit({ arguments: { text: 'poison' }, labels: { some: 'label' }, toolCallId: 'tc' });
    const after = await submit();
    await project();
    await sql`alter table calls drop constraint no_poison`.execute(db);
    expect(await stored()).toEqual(expect.arrayContaining([before, refused, after]));
    const row = await db.selectFrom('calls').selectAll().where('id', '=', refused).executeTakeFirstOrThrow();
    expect(row).toMatchObject({ tool: 'echo', session_id: 's', preview: '', labels: {}, tool_call_id: null });
    expect(skipped).toEqual([]);
  });

  it('omits and reports a call that the database refuses in any form, and stores all others', async () => {
    const emitted: unknown[] = [];
    const off = telemetry.projectionSkipped.on((event) => emitted.push(event));
    await sql`alter table calls add constraint no_poison check (tool <> 'poison')`.execute(db);
    const before = await submit();
    const callId = log.newCallId(TENANT, 's');
    await log.accept(aCall(callId, { meta: { tenantId: TENANT, tool: 'poison', sessionId: 's' } }));
    const after = await submit();
    await project();
    await sql`alter table calls drop constraint no_poison`.execute(db);
    off();
    const rows = await stored();
    expect(rows).toEqual(expect.arrayContaining([before, after]));
    expect(rows).not.toContain(callId);
    expect(skipped).toEqual([callId]);
    expect(emitted).toHaveLength(1);
    expect(await counted()).toEqual([rows.length, rows.length]);
  });

  it.each(['00-ZZZZZZZZZZZZZZZZZZZZZZZZZZ', '00-7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'no-id'])(
    'names %s, an id without a usable time, and stops neither rows nor lists',
    async (parentCallId) => {
      const child = await submit({ parentCallId });
      const usual = await submit();
      const unprojected = await list.page(TENANT, ListCallsQuery.parse({ limit: 2 }));
      expect(unprojected.calls.map(({ id }) => id)).toEqual(expect.arrayContaining([usual, child]));
      await project();
      expect(await stored()).toEqual(expect.arrayContaining([child, usual]));
    },
  );

  it('omits a call whose id the database refuses', async () => {
    const usual = await submit();
    const source = new LogReader(redis);
    const odd = '00-ZZZZZZZZZZZZZZZZZZZZZZZZZZ';
    await project({
      end: (partition) => source.end(partition),
      read: async (...place) => {
        const { epoch, entries } = await source.read(...place);
        return {
          epoch,
          entries: entries.map((entry) => (entry.event?.subject === usual ? { ...entry, event: { ...entry.event, subject: odd } } : entry)),
        };
      },
    });
    expect(skipped).toEqual([odd]);
    const next = await submit();
    await project();
    expect(await stored()).toContain(next);
  });
});
