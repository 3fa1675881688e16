import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { LogSource } from '../log-source.port.js';
import { eventually } from '../../../../test/support/eventually.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.js';
import { HistoryProjector } from '../write/history-projector.js';
import { HistoryUnavailable, openHistoryDatabase, type HistoryDatabase } from './history-database.js';
import { migrateHistory } from './migrate-history.js';

const CONNECTIONS = 2;
/** Time-out that is sufficient for a slow machine. */
const PATIENT_MS = 60_000;

describe('the connections of the history database', () => {
  let postgres: TestPostgres;
  let db: HistoryDatabase;
  let watcher: HistoryDatabase;
  const open = (name: string, statementTimeoutMs: number) =>
    openHistoryDatabase({ url: postgres.url, name, connections: CONNECTIONS, statementTimeoutMs, onError: () => {} });

  beforeEach(async () => {
    postgres = await startTestPostgres();
    [db, watcher] = [open('asked', 2_000), open('watcher', PATIENT_MS)];
  });
  afterEach(async () => {
    await Promise.all([db.destroy(), watcher.destroy()]);
    await postgres.stop();
  });

  const ask = (database = db) => sql`select 1`.execute(database);
  const backends = async (name: string) => {
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity where application_name = ${name}`.execute(watcher);
    return rows.map(({ pid }) => pid);
  };

  it('fails queries in bounded time while the server is stopped without a word, with as many connections afterwards', async () => {
    await Promise.all([ask(), ask()]);
    const pids = [...(await backends('asked')), ...(await backends('watcher')), postgres.pid ?? 0];
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const inTransaction = db.transaction().execute((transaction) => ask(transaction));
    const answers = await Promise.allSettled([inTransaction, ...Array.from({ length: 5 }, () => ask())]);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    expect(answers.map((answer) => answer.status === 'rejected' && answer.reason instanceof HistoryUnavailable)).not.toContain(false);
    await Promise.all([ask(), ask(), ask()]);
    await eventually(async () => (await backends('asked')).length <= CONNECTIONS, 'the server to end the connections that were given up');
  });

  it('ends the connection of a process that waits in a transaction, so that others get the partition', async () => {
    await migrateHistory(watcher);
    let letGo = (_error: Error): void => {};
    const away = new Promise<never>((_resolve, reject) => (letGo = reject));
    let reads = 0;
    const never: LogSource = { end: () => Promise.resolve(1), read: () => ((reads += 1), away) };
    const stuck = new HistoryProjector({ db, log: never, partitions: 1 });
    const held = stuck.round().catch(() => {});
    await eventually(() => reads > 0, 'the first projector to hold the partition');
    const read: string[] = [];
    const log: LogSource = {
      end: () => Promise.resolve(1),
      read: (partition) => Promise.resolve({ epoch: read.push(partition), entries: [] }),
    };
    const other = new HistoryProjector({ db: watcher, log, partitions: 1 });
    await eventually(async () => {
      await other.round().catch(() => {});
      return read.length > 0;
    }, 'the other projector to get the partition');
    letGo(new Error('the log is away'));
    await held;
  });
});
