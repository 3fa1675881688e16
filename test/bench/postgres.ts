import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgres } from '../../apps/standalone/src/postgres/postgres-programs.js';
import { startPrivatePostgres } from '../../apps/standalone/src/postgres/private-postgres.js';

export interface BenchPostgres {
  readonly url: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/** A PostgreSQL as standalone starts it. */
export async function startPostgres(): Promise<BenchPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-bench-history-'));
  const programs = findPostgres(folder);
  if (programs === undefined) throw new Error('PostgreSQL is missing. Install the optional npm packages: npm ci.');
  const server = await startPrivatePostgres(folder, programs, () => {});
  return {
    url: server.url,
    pid: server.pid,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
