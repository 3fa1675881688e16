import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { ListCallsQuery } from '#contracts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.js';
import { openHistoryDatabase, type HistoryDatabase } from '../database/history-database.js';
import { migrateHistory } from '../database/migrate-history.js';
import type { LogSource } from '../log-source.port.js';
import { CallList } from './call-list.js';

const ROWS = 16_000;
const NO_EVENTS: LogSource = { end: () => Promise.resolve(0), read: () => Promise.resolve({ epoch: 1, entries: [] }) };

describe('a page of calls by free text, among more calls than are walked or sorted at once', () => {
  let postgres: TestPostgres;
  let db: HistoryDatabase;
  let list: CallList;

  beforeAll(async () => {
    postgres = await startTestPostgres();
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 2, statementTimeoutMs: 30_000, onError: () => {} });
    await migrateHistory(db);
    list = new CallList(db, NO_EVENTS, 1);
    await sql`create table calls_all partition of calls for values from ('2026-11-02') to ('2026-11-09')`.execute(db);
    // Call n is the n-th newest.
    await sql`
      insert into calls (id, week, partition, tenant_id, tool, pool, priority, status, submitted_at, words)
      select 'n' || lpad(n::text, 5, '0'), '2026-11-02', '00', case when n % 8 = 7 then 'other' else 'acme' end, 'echo', 'read', 'normal', 'ended',
        timestamptz '2026-11-08' - n * interval '1 second', array_to_tsvector(array_remove(array['everywhere',
          case when n > 3000 then 'middling' end, case when n in (2, 15000, 15009) then 'zebrafish' end, case when n = 15001 then 'zebu' end], null))
      from generate_series(0, ${ROWS - 1}) as n`.execute(db);
    await sql`analyze calls`.execute(db);
  });
  afterAll(async () => {
    await db.destroy();
    await postgres.stop();
  });

  const mine = Array.from({ length: ROWS }, (_, n) => n).filter((n) => n % 8 !== 7);
  const idOf = (n: number) => `n${String(n).padStart(5, '0')}`;

  it.each<[what: string, q: string, has: (n: number) => boolean]>([
    ['that all calls have', 'everywhere', () => true],
    ['that most calls have, but none of the newest', 'middling', (n) => n > 3_000],
    ['that few calls have', 'zebrafish', (n) => [2, 15_000, 15_009].includes(n)],
    ['by its beginning', 'ZEB', (n) => [2, 15_000, 15_001, 15_009].includes(n)],
    ['that are all wanted', 'zeb middling', (n) => [15_000, 15_001, 15_009].includes(n)],
    ['that no call has', 'giraffe', () => false],
  ])('finds words %s among more calls than are walked or sorted at once', async (_what, q, has) => {
    const expected = mine.filter(has).map(idOf);
    const first = await list.page('acme', ListCallsQuery.parse({ q, limit: 2 }));
    expect(first.calls.map(({ id }) => id)).toEqual(expected.slice(0, 2));
    expect(first.nextCursor === undefined).toBe(expected.length <= 2);
    if (first.nextCursor === undefined) return;
    const second = await list.page('acme', ListCallsQuery.parse({ q, limit: 200, cursor: first.nextCursor }));
    expect(second.calls.map(({ id }) => id)).toEqual(expected.slice(2, 202));
  });
});
