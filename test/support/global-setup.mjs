import { startRedisServer } from './redis-server.mjs';

/** One private Redis for the whole run, unless TEST_REDIS_URL names one. Each test file uses names of its own. */
export default async function globalSetup() {
  if (process.env.TEST_REDIS_URL) return;
  globalThis.testRedisServer = await startRedisServer();
  process.env.TEST_REDIS_URL = globalThis.testRedisServer.url;
}
