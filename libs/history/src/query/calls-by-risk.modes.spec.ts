import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { ListCallsQuery, type ListCallsInput } from '#contracts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.js';
import { openHistoryDatabase, type HistoryDatabase } from '../database/history-database.js';
import { migrateHistory } from '../database/migrate-history.js';
import type { LogSource } from '../log-source.port.js';
import { CallList } from './call-list.js';

const ROWS = 20_000;
const NEWEST = '2026-11-08T00:00:00Z';
const STEP_MS = 30_000;
const NO_EVENTS: LogSource = { end: () => Promise.resolve(0), read: () => Promise.resolve({ epoch: 1, entries: [] }) };

describe('a page of calls by risk, among many calls', () => {
  let postgres: TestPostgres;
  let db: HistoryDatabase;
  let list: CallList;

  beforeAll(async () => {
    postgres = await startTestPostgres();
    // A single connection counts all reads of a page.
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 1, statementTimeoutMs: 30_000, onError: () => {} });
    await migrateHistory(db);
    list = new CallList(db, NO_EVENTS, 1);
    // Call n is the n-th newest. Few have a risk other than low, and these are old.
    for (const [from, week, next] of [
      [0, '2026-11-02', '2026-11-09'],
      [ROWS / 2, '2026-10-26', '2026-11-02'],
    ] as const) {
      await sql`create table ${sql.table(`calls_${from}`)} partition of calls for values from (${sql.lit(week)}) to (${sql.lit(next)})`.execute(
        db,
      );
      await sql`
        insert into calls (id, week, partition, tenant_id, tool, pool, priority, status, submitted_at, risk, words)
        select 'n' || lpad(n::text, 5, '0'), ${week}, '00', 'acme', 'echo', 'read', 'normal', 'ended',
          ${NEWEST}::timestamptz - n * ${STEP_MS}::int * interval '1 millisecond',
          case when n in (19000, 19500) then 'high' when n = 19001 then 'medium' when n < 19900 then 'low' end, array_to_tsvector(array['echo'])
        from generate_series(${from}::int, ${from + ROWS / 2 - 1}::int) as n`.execute(db);
    }
    await sql`vacuum analyze calls`.execute(db);
  });
  afterAll(async () => {
    await db.destroy();
    await postgres.stop();
  });

  const page = (input: ListCallsInput) => list.page('acme', ListCallsQuery.parse(input));
  const idOf = (n: number) => `n${String(n).padStart(5, '0')}`;
  /** Number of rows and index entries of calls read so far. */
  const readSoFar = async () => {
    await sql`select pg_stat_force_next_flush()`.execute(db);
    const { rows } = await sql<{ read: string }>`
      select (select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables where relname like 'calls%')
        + (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes where relname like 'calls%') as read`.execute(db);
    return Number(rows[0]?.read);
  };

  it.each<[what: string, input: ListCallsInput, expected: readonly number[]]>([
    ['of all calls', { limit: 5 }, [19_000, 19_500, 19_001, 0, 1]],
    ['of one risk', { limit: 5, risk: 'high' }, [19_000, 19_500]],
    ['of none that was judged high', { limit: 3, risk: 'medium,low' }, [19_001, 0, 1]],
  ])('reads few rows for a page %s', async (_what, input, expected) => {
    const before = await readSoFar();
    const { calls } = await page({ sort: 'risk', ...input });
    expect(calls.map(({ id }) => id)).toEqual(expected.map(idOf));
    expect((await readSoFar()) - before).toBeLessThan(200);
  });

  it('reads few rows for each further page, to the last call without a risk', async () => {
    const before = await readSoFar();
    const first = await page({ sort: 'risk', limit: 4 });
    const second = await page({ sort: 'risk', limit: 4, cursor: first.nextCursor });
    expect(second.calls.map(({ id }) => id)).toEqual([1, 2, 3, 4].map(idOf));
    expect((await readSoFar()) - before).toBeLessThan(200);
    const last = await page({ sort: 'risk', limit: 200, until: new Date(Date.parse(NEWEST) - 19_890 * STEP_MS).toISOString() });
    expect(last.calls.map(({ id }) => id)).toEqual(Array.from({ length: 110 }, (_, n) => idOf(19_890 + n)));
    expect(last.nextCursor).toBeUndefined();
  });

  it('finds words in a page of calls by risk', async () => {
    const { calls, nextCursor } = await page({ sort: 'risk', q: 'ech', limit: 4 });
    expect(calls.map(({ id }) => id)).toEqual([19_000, 19_500, 19_001, 0].map(idOf));
    expect((await page({ sort: 'risk', q: 'ech', limit: 2, cursor: nextCursor })).calls.map(({ id }) => id)).toEqual([1, 2].map(idOf));
  });
});
