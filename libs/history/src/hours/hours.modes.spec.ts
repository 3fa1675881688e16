import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import pg from 'pg';
import { ulid } from 'ulidx';
import type { CallEvent } from '#contracts';
import { eventually } from '../../../../test/support/eventually.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.js';
import { aSubmission } from '../../../../test/support/sample-calls.js';
import { openHistoryDatabase, type HistoryDatabase } from '../database/history-database.js';
import { migrateHistory } from '../database/migrate-history.js';
import type { EventSource, LogSource } from '../log-source.port.js';
import { Numbers } from '../query/numbers.js';
import { HistoryRetention } from '../retention/history-retention.js';
import { HistoryProjector } from '../write/history-projector.js';
import { rebuildHistory } from '../write/rebuild-history.js';
import { HourSummer } from './hour-summer.js';

const PARTITIONS = 2;
const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-11-18T10:30:00Z');
const PERIOD = { since: '2026-11-16T00:00:00Z', until: '2026-11-18T11:00:00Z' };

/** Call at a number of hours before NOW; `took`: minutes, -1 for an open call. */
interface Call {
  readonly tenantId: string;
  readonly tool: string;
  readonly submitted: number;
  readonly took: number;
  readonly runMs: number;
  readonly failed: boolean;
}

const aCall = fc.record<Call>({
  tenantId: fc.constantFrom('acme', 'other'),
  tool: fc.constantFrom('echo', 'shell'),
  submitted: fc.double({ min: 0, max: 50, noNaN: true }),
  took: fc.integer({ min: -1, max: 200 }),
  runMs: fc.nat(100_000),
  failed: fc.boolean(),
});

describe('sums by hour', () => {
  let postgres: TestPostgres;
  let db: HistoryDatabase;
  let log: MadeLog;
  beforeAll(async () => {
    postgres = await startTestPostgres();
    db = openHistoryDatabase({ url: postgres.url, name: 'test', connections: 5, statementTimeoutMs: 10_000, onError: () => {} });
    await migrateHistory(db);
  });
  afterAll(async () => {
    await db.destroy();
    await postgres.stop();
  });
  beforeEach(() => empty());

  const empty = async () => {
    await sql`truncate calls, sessions, totals, positions, hours, summed_hours`.execute(db);
    log = new MadeLog();
  };
  const project = async (batch = 7) => {
    const projector = new HistoryProjector({ db, log, partitions: PARTITIONS, batch });
    while (await projector.round());
  };
  const sum = async (source: LogSource = log) => {
    const summer = new HourSummer({ db, log: source, partitions: PARTITIONS, now: () => NOW });
    while (await summer.round());
  };
  const sums = async () => (await sql`select * from hours order by tenant_id, hour, tool, outcome`.execute(db)).rows;
  const numbers = async () => {
    const asked = new Numbers(db, log, PARTITIONS, () => NOW);
    const both = ['acme', 'other'].map(async (tenantId) => [
      await asked.tools(tenantId, PERIOD),
      await asked.tools(tenantId, { since: '2026-11-18T07:35:00Z', until: '2026-11-18T10:05:00Z' }),
      await asked.stats(tenantId, { ...PERIOD, stepMs: 6 * HOUR_MS }),
    ]);
    return Promise.all(both);
  };
  /** Answers of the routes, with the sums and without any. */
  const answers = async () => {
    const summed = await numbers();
    await sql`update summed_hours set complete = false`.execute(db);
    const counted = await numbers();
    await sql`update summed_hours set complete = true`.execute(db);
    return { summed, counted };
  };
  const expectExact = async () => {
    const { summed, counted } = await answers();
    expect(summed).toEqual(counted);
  };

  it('sums hours equal to the rows after late events, expiry and rebuild', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('calls' as const), calls: fc.array(aCall, { minLength: 1, maxLength: 15 }) }),
      fc.record({ kind: fc.constantFrom('end' as const, 'sum' as const, 'expire' as const, 'rebuild' as const), which: fc.nat(40) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        await empty();
        for (const one of steps) {
          if (one.kind === 'calls') for (const call of one.calls) log.add(call);
          else if (one.kind === 'end') log.endOne(one.which);
          else if (one.kind === 'sum') await sum();
          else if (one.kind === 'rebuild') await rebuildHistory({ db, source: log, partitions: PARTITIONS });
          else {
            const policy = () => ({ days: undefined, tenants: { acme: { historyDays: 1 } } });
            await new HistoryRetention({ db, policy, now: () => NOW + one.which * HOUR_MS, batch: 3 }).round();
          }
          if (one.kind !== 'sum') await project();
          await expectExact();
        }
        await rebuildHistory({ db, source: log, partitions: PARTITIONS });
        await sum();
        const live = await sums();
        await rebuildHistory({ db, source: log, partitions: PARTITIONS });
        expect(await sums()).toEqual([]);
        await sum();
        expect(await sums()).toEqual(live);
        await expectExact();
      }),
      { numRuns: 8 },
    );
  });

  it('reads sums instead of rows for hours that are over', async () => {
    for (let n = 0; n < 30; n++)
      log.add({ tenantId: 'acme', tool: 'echo', submitted: 3 + n / 2, took: 1, runMs: 10 * n, failed: n % 3 === 0 });
    await project();
    await sum();
    const before = await numbers();
    await sql`delete from calls`.execute(db);
    expect(await numbers()).toEqual(before);
  });

  it('sums percentiles by hour within 2 % of the true value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.maxSafeNat(), async (ms) => {
        const { rows } = await sql<{ found: number }>`select latency_of_bucket(latency_bucket(${ms}::bigint)) as found`.execute(db);
        const [found = 0] = rows.map((row) => row.found);
        if (ms < 64) expect(found).toBe(ms);
        else expect(Math.abs(found - ms) / ms).toBeLessThan(0.02);
      }),
    );
    for (let power = 6; power < 53; power++) {
      const near = [2 ** power - 1, 2 ** power, 2 ** power + 1];
      const { rows } = await sql<{ bucket: number }>`select latency_bucket(ms) as bucket from unnest(${near}::bigint[]) as ms`.execute(db);
      const [below = 0, at = 0, above = 0] = rows.map(({ bucket }) => bucket);
      expect([at - below, above - at]).toEqual([1, 0]);
    }
  });

  it('waits with a sum by hour for a batch that began before the hour was marked', async () => {
    log.add({ tenantId: 'acme', tool: 'echo', submitted: 5, took: 1, runMs: 5, failed: false });
    await project();
    const gate = new pg.Client({ connectionString: postgres.url });
    await gate.connect();
    await gate.query('select pg_advisory_lock(4711)');
    // Holds a batch between its rows and its end.
    await sql`create function held() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(4711); return new; end'`.execute(
      db,
    );
    await sql`create trigger held before update on positions for each row execute function held()`.execute(db);
    log.add({ tenantId: 'acme', tool: 'echo', submitted: 5, took: 1, runMs: 7, failed: false });
    const projected = project();
    await waiting(1);
    // Empty log: a round would not begin while the rows lag behind old events.
    const summed = sum(new MadeLog());
    await waiting(2);
    await gate.query('select pg_advisory_unlock(4711)');
    await Promise.all([projected, summed]);
    await gate.end();
    expect(await sums()).not.toEqual([]);
    await expectExact();
  });
  const waiting = (connections: number) =>
    eventually(async () => {
      const { rows } = await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'test'`.execute(db);
      return rows.length >= connections;
    }, `${connections} connections to wait for a lock`);
});

/** Growing log of two partitions. */
class MadeLog implements EventSource {
  private readonly events = new Map<string, CallEvent[]>();
  private readonly open: { partition: string; id: string; call: Call }[] = [];
  private calls = 0;

  add(call: Call): void {
    const partition = `0${this.calls++ % PARTITIONS}`;
    const at = NOW - Math.round(call.submitted * HOUR_MS);
    const id = `${partition}-${ulid(at)}`;
    this.append(partition, id, call, at, { type: 'call.submitted', data: aSubmission() });
    this.append(partition, id, call, at + 40, { type: 'call.start', attempt: 1, data: {} });
    if (call.took < 0) this.open.push({ partition, id, call });
    else this.finish(partition, id, call, Math.min(NOW, at + call.took * 60_000));
  }

  /** Ends an open call, now or long ago. */
  endOne(which: number): void {
    const [found] = this.open.splice(which % Math.max(1, this.open.length), 1);
    if (found !== undefined) this.finish(found.partition, found.id, found.call, NOW - (which % 2) * which * HOUR_MS);
  }

  private finish(partition: string, id: string, call: Call, at: number): void {
    const data = { outcome: call.failed ? 'failed' : 'completed', attempts: 1, runMs: call.runMs };
    this.append(partition, id, call, at, { type: 'call.end', attempt: 1, data });
  }

  private append(partition: string, subject: string, { tenantId, tool }: Call, at: number, fields: object): void {
    const events = this.events.get(partition) ?? [];
    this.events.set(partition, events);
    const time = new Date(at).toISOString();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of an event as the fold reads
    events.push({ specversion: '1.0', subject, tenantid: tenantId, tool, attempt: 0, time, ...fields } as CallEvent);
  }

  first(): Promise<number> {
    return Promise.resolve(1);
  }
  end(partition: string): Promise<number> {
    return Promise.resolve(this.events.get(partition)?.length ?? 0);
  }
  read(partition: string, from: number, limit: number) {
    const events = (this.events.get(partition) ?? []).slice(from - 1, from - 1 + limit);
    return Promise.resolve({ epoch: 1, entries: events.map((event, n) => ({ seq: from + n, mark: `${from + n}`, size: 0, event })) });
  }
}
