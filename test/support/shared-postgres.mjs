import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const TEMPLATE = 'template_history';

/**
 * Offers a PostgreSQL for all test files of a run, started by the first request: `GET` of the url returns its address. Contains an
 * empty history as a template, of which each test makes a database of its own.
 */
export async function offerPostgres() {
  let started;
  const server = createServer((_request, response) => {
    // A connection that is kept may be closed here at the moment of the next request.
    response.setHeader('connection', 'close');
    started ??= startPostgres();
    started.then(
      ({ url }) => response.end(url),
      (error) => response.writeHead(500).end(String(error?.message ?? error)),
    );
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    stop: async () => {
      server.close();
      await (await started?.catch(() => undefined))?.stop();
    },
  };
}

/** Starts PostgreSQL like standalone, from the build. Writes do not wait for the disk, since the data last only as long as the run. */
async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-tests-'));
  const [{ findPostgres }, { startPrivatePostgres }, { openHistoryDatabase, migrateHistory }, { default: pg }] = await Promise.all([
    import('../../dist/apps/standalone/src/postgres/postgres-programs.js'),
    import('../../dist/apps/standalone/src/postgres/private-postgres.js'),
    import('../../dist/libs/history/src/index.js'),
    import('pg'),
  ]);
  const programs = findPostgres(folder);
  if (programs === undefined) throw new Error('PostgreSQL is missing. Install the optional npm packages: npm ci.');
  const server = await startPrivatePostgres(folder, programs, () => {});
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  for (const setting of ['fsync', 'full_page_writes']) await admin.query(`alter system set ${setting} = off`);
  await admin.query('select pg_reload_conf()');
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  const url = new URL(server.url);
  url.pathname = TEMPLATE;
  const db = openHistoryDatabase({ url: url.href, name: 'template', connections: 1, statementTimeoutMs: 60_000, onError: () => {} });
  await migrateHistory(db);
  await db.destroy();
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
