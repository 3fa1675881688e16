import { spawnSync } from 'node:child_process';
import { startRedisServer } from './redis-server.mjs';
import { offerPostgres } from './shared-postgres.mjs';

/**
 * Builds when something changed, since tests below test/ run what is built; a run of other tests alone skips that.
 * Then one private Redis for the whole run, unless TEST_REDIS_URL names one. Each test file uses names of its own. And the offer
 * of one PostgreSQL, which starts when a test asks for a database, and of one installation for all files of test/api, unless
 * TEST_INSTALLATION_URL names one that `node test/installation.mjs` left running.
 */
export default async function globalSetup({ testPathPatterns }) {
  const patterns = testPathPatterns?.patterns ?? [];
  if (patterns.length === 0 || patterns.some((pattern) => pattern.includes('test/'))) build();
  globalThis.testPostgres = await offerPostgres();
  process.env.TEST_POSTGRES_OFFER = globalThis.testPostgres.url;
  if (!process.env.TEST_INSTALLATION_URL) {
    const { offerInstallation } = await import('./installation/offer.ts');
    globalThis.testInstallation = await offerInstallation();
    // Ready sooner than the first test needs it.
    if (patterns.length === 0 || patterns.some((pattern) => pattern.includes('test/api'))) globalThis.testInstallation.start();
    process.env.TEST_INSTALLATION_URL = globalThis.testInstallation.url;
  }
  if (process.env.TEST_REDIS_URL) return;
  globalThis.testRedisServer = await startRedisServer();
  process.env.TEST_REDIS_URL = globalThis.testRedisServer.url;
}

function build() {
  const { status } = spawnSync(process.execPath, ['apps/standalone/build-if-needed.mjs'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed; what the compiler said is above.');
}
