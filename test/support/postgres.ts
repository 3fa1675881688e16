import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { LogReader } from '#event-log';
import { ContentKeyStore, HistoryProjector, openHistoryDatabase, type HistoryDatabase } from '#history';
import { createRedis } from '#redis';
import { openArchivedLog } from '#sealing';
import { RoundLoop } from '../../apps/projector/src/round-loop.js';
import { findPostgres } from '../../apps/standalone/src/postgres/postgres-programs.js';
import { startPrivatePostgres } from '../../apps/standalone/src/postgres/private-postgres.js';
import { TEMPLATE } from './shared-postgres.mjs';

export interface TestPostgres {
  readonly url: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/** A PostgreSQL of the test's own; rejects when none is installed. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-history-'));
  const programs = findPostgres(folder);
  if (programs === undefined) throw new Error('PostgreSQL is missing. Install the optional npm packages: npm ci.');
  const server = await startPrivatePostgres(folder, programs, () => {});
  return {
    url: server.url,
    get pid() {
      return server.pid;
    },
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database of the test's own with an empty history, in the PostgreSQL of the test run. */
export async function testDatabase(): Promise<string> {
  const answer = await fetch(process.env['TEST_POSTGRES_OFFER'] ?? '');
  const server = await answer.text();
  if (!answer.ok) throw new Error(server);
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`create database ${name} template ${TEMPLATE}`);
  await admin.end();
  const url = new URL(server);
  url.pathname = name;
  return url.href;
}

export function openTestDatabase(url: string): HistoryDatabase {
  return openHistoryDatabase({ url, name: 'test', connections: 3, statementTimeoutMs: 10_000, onError: (error) => console.error(error) });
}

/** Fills a history from the log and the archive, in this process. */
export async function startTestProjector(
  databaseUrl: string,
  redisUrl: string,
  archiveUrl?: string,
  partitions = 16,
): Promise<{ close(): Promise<void> }> {
  const report = (error: unknown) => console.error(error);
  const redis = createRedis(redisUrl);
  const db = openTestDatabase(databaseUrl);
  const archive = archiveUrl === undefined ? undefined : await openArchivedLog(archiveUrl, new ContentKeyStore(db));
  const projector = new HistoryProjector({ db, log: new LogReader(redis, archive), partitions });
  const loop = new RoundLoop({ name: 'projector', round: (signal) => projector.round(signal), pauseMs: 500, report });
  loop.start();
  return {
    close: async () => {
      await loop.close();
      await db.destroy();
      redis.disconnect();
    },
  };
}
