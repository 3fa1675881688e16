import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgres } from '../../apps/standalone/src/postgres/postgres-programs.js';
import { startPrivatePostgres } from '../../apps/standalone/src/postgres/private-postgres.js';

export interface TestPostgres {
  readonly url: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/** A PostgreSQL of the test's own; rejects when none is installed. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-history-'));
  const programs = findPostgres(folder);
  if (programs === undefined)
    throw new Error('PostgreSQL is missing. Install it: apt-get install postgresql (Debian) or brew install postgresql (macOS).');
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
