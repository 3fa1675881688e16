import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { ulid } from 'ulidx';
import type { CallEvent, TenantRetention } from '#contracts';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.js';
import { aSubmission } from '../../../test/support/sample-calls.js';
import { openHistoryDatabase, type HistoryDatabase } from './database/history-database.js';
import { migrateHistory } from './database/migrate-history.js';
import type { EventSource } from './log-source.port.js';
import { HistoryRetention } from './retention/history-retention.js';
import { HistoryProjector } from './write/history-projector.js';
import { rebuildHistory } from './write/rebuild-history.js';

const PARTITIONS = 2;
const DAY_MS = 24 * 3_600_000;
const NOW = Date.parse('2026-11-18T12:00:00Z');

interface Call {
  readonly tenantId: string;
  readonly session: number;
  readonly submittedDay: number;
  /** Days until the End; -1 for an open call. */
  readonly took: number;
  readonly failed: boolean;
}

describe('retention of the history', () => {
  let postgres: TestPostgres;
  let db: HistoryDatabase;

  beforeAll(async () => {
    postgres = await startTestPostgres();
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 4, statementTimeoutMs: 10_000, onError: () => {} });
    await migrateHistory(db);
  });
  afterAll(async () => {
    await db.destroy();
    await postgres.stop();
  });

  const truncate = () => sql`truncate calls, sessions, totals, positions`.execute(db);
  const project = async (source: EventSource) => {
    const projector = new HistoryProjector({ db, log: source, partitions: PARTITIONS });
    while (await projector.round());
  };
  const apply = (days: number | undefined, tenants: Record<string, TenantRetention> = {}, batch = 3) =>
    new HistoryRetention({ db, policy: () => ({ days, tenants }), now: () => NOW, batch }).round();
  const stored = async () => (await db.selectFrom('calls').select('id').execute()).map(({ id }) => id).sort();
  const weeks = async () => {
    const { rows } = await sql<{
      week: string;
    }>`select inhrelid::regclass::text as week from pg_inherits where inhparent = 'calls'::regclass`.execute(db);
    return rows.map(({ week }) => week).sort();
  };
  const tables = async () => {
    const all = ['calls', 'sessions', 'totals', 'positions'].map(
      async (table) => (await sql`select to_jsonb(t) - 'updated_at' as row from ${sql.table(table)} t order by 1`.execute(db)).rows,
    );
    return Promise.all(all);
  };
  const counted = async () => {
    const { rows: sessions } = await sql`
      select tenant_id, session_id, count(*) as calls, count(*) filter (where status <> 'ended') as open,
        count(*) filter (where outcome = 'failed') as failed, min(submitted_at) as first_at, max(coalesce(ended_at, submitted_at)) as last_at
      from calls group by 1, 2 order by 1, 2`.execute(db);
    const { rows: totals } = await sql`select tenant_id, partition, count(*) as calls from calls group by 1, 2 order by 1, 2`.execute(db);
    return { sessions, totals };
  };
  const kept = async () => {
    const { rows: sessions } =
      await sql`select tenant_id, session_id, calls, open, failed, first_at, last_at from sessions order by 1, 2`.execute(db);
    const { rows: totals } = await sql`select tenant_id, partition, calls from totals order by 1, 2`.execute(db);
    return { sessions, totals };
  };

  it('deletes calls ended before the limit, with sessions and totals equal to the rows, as after a rebuild', async () => {
    const call = fc.record({
      tenantId: fc.constantFrom('acme', 'held', 'short', 'kept', 'partly'),
      session: fc.nat(4),
      submittedDay: fc.nat(40),
      took: fc.integer({ min: -1, max: 9 }),
      failed: fc.boolean(),
    });
    const policy: Record<string, TenantRetention> = {
      held: { legalHold: true, historyDays: 1 },
      short: { historyDays: 3 },
      kept: { historyDays: 'forever' },
      partly: { historyDays: 3, heldSessions: ['s1'], heldAgents: ['agent-2'] },
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 40 }),
        fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
        async (calls, days) => {
          await truncate();
          const { source, ids } = logOf(calls);
          await project(source);
          const limits: Record<string, number | undefined> = { acme: days, short: 3, partly: 3 };
          const expected = ids.filter((_id, n) => {
            const { tenantId = '', took = -1, submittedDay = 0, session = 0 } = calls[n] ?? {};
            const limit = limits[tenantId];
            if (tenantId === 'partly' && (session === 1 || session === 2)) return true;
            return limit === undefined || took < 0 || submittedDay - took < limit;
          });
          await apply(days, policy);
          expect(await stored()).toEqual([...expected].sort());
          expect(await kept()).toEqual(await counted());
          const before = await tables();
          await rebuildHistory({ db, source, partitions: PARTITIONS });
          await apply(days, policy);
          expect(await tables()).toEqual(before);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('drops whole weeks without kept calls, and creates them again for a late event', async () => {
    await truncate();
    const old = Array.from({ length: 5 }, (_, n) => ({ tenantId: 'acme', session: n, submittedDay: 30, took: 0, failed: false }));
    const { source } = logOf([...old, { tenantId: 'acme', session: 1, submittedDay: 1, took: 0, failed: false }]);
    await project(source);
    expect(await weeks()).toContain('calls_2026_10_19');
    expect(await apply(7)).toMatchObject({ calls: 0 });
    expect((await weeks()).filter((week) => week < 'calls_2026_11_09')).toEqual([]);
    expect(await stored()).toHaveLength(1);
    expect(await kept()).toEqual(await counted());
    await rebuildHistory({ db, source, partitions: PARTITIONS });
    expect(await stored()).toHaveLength(6);
  });

  it('keeps a week of the history for one call that is held or open', async () => {
    await truncate();
    const one = { tenantId: 'acme', session: 1, submittedDay: 30, took: 0, failed: false };
    const { source } = logOf([one, { ...one, tenantId: 'held' }, { ...one, took: -1 }]);
    await project(source);
    expect(await apply(7, { held: { legalHold: true } })).toEqual({ calls: 1, weeks: 0 });
    expect(await stored()).toHaveLength(2);
  });

  it('deletes acts with the archive, except those of a tenant on legal hold; holds of sessions and agents keep calls only', async () => {
    const act = { partition: '00', type: 'admin.key_created', actor: 'apikey:one', target: 'two', event: '{}' };
    const at = (days: number) => new Date(NOW - days * DAY_MS);
    const tenants = ['acme', 'held', 'partly', 'forever'];
    const rows = tenants.flatMap((tenant_id) => [30, 1].map((days) => ({ ...act, tenant_id, at: at(days) })));
    await db
      .insertInto('acts')
      .values(rows.map((row, seq) => ({ ...row, seq })))
      .execute();
    const archiveDays = 7;
    await apply(1, {
      acme: { archiveDays },
      held: { archiveDays, legalHold: true },
      partly: { archiveDays, heldSessions: ['one'], heldAgents: ['two'] },
    });
    const kept = await db.selectFrom('acts').select('tenant_id').orderBy('seq').execute();
    expect(kept.map((row) => row.tenant_id)).toEqual(['acme', 'held', 'held', 'partly', 'forever', 'forever']);
  });

  it('skips a partition under rebuild, and reports remaining rows', async () => {
    await truncate();
    const { source } = logOf(
      Array.from({ length: 6 }, (_, n) => ({ tenantId: 'acme', session: n, submittedDay: 30, took: 0, failed: false })),
    );
    await project(source);
    await db.transaction().execute(async (transaction) => {
      await transaction.selectFrom('positions').select('seq').forUpdate().execute();
      await expect(apply(7)).rejects.toThrow('remain until the next round');
    });
    await apply(7);
    expect(await stored()).toEqual([]);
  });

  it('deletes nothing of the history if calls are kept for ever', async () => {
    await truncate();
    await project(logOf([{ tenantId: 'acme', session: 1, submittedDay: 300, took: 0, failed: false }]).source);
    expect(await apply(undefined)).toEqual({ calls: 0, weeks: 0 });
    expect(await stored()).toHaveLength(1);
  });
});

/** Log of calls that were submitted and ended a number of days before NOW. */
function logOf(calls: readonly Call[]): { readonly source: EventSource; readonly ids: readonly string[] } {
  const logs = new Map<string, CallEvent[]>();
  const ids = calls.map(({ tenantId, session, submittedDay, took, failed }) => {
    const partition = `0${session % PARTITIONS}`;
    const at = NOW - submittedDay * DAY_MS - 1;
    const id = `${partition}-${ulid(at)}`;
    const log = logs.get(partition) ?? [];
    logs.set(partition, log);
    const envelope = {
      specversion: '1.0',
      subject: id,
      tenantid: tenantId,
      sessionid: `s${session}`,
      agentid: `agent-${session}`,
      tool: 'echo',
    } as const;
    const event = (fields: object) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of an event as the fold reads
      log.push({ ...envelope, attempt: 0, ...fields } as CallEvent);
    event({ type: 'call.submitted', time: new Date(at).toISOString(), data: aSubmission() });
    const data = { outcome: failed ? 'failed' : 'completed', attempts: 1 };
    if (took >= 0) event({ type: 'call.end', time: new Date(at + took * DAY_MS).toISOString(), data });
    return id;
  });
  const source: EventSource = {
    first: () => Promise.resolve(1),
    end: (partition) => Promise.resolve(logs.get(partition)?.length ?? 0),
    read: (partition, from, limit) => {
      const events = (logs.get(partition) ?? []).slice(from - 1, from - 1 + limit);
      return Promise.resolve({ epoch: 1, entries: events.map((event, n) => ({ seq: from + n, mark: `${from + n}`, size: 0, event })) });
    },
  };
  return { source, ids };
}
