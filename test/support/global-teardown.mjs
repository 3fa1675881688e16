const PATIENCE_MS = 30_000;

/**
 * Stops the servers of the run. What a test left open would hold up the process for ever: after a while it is named, and the
 * run ends as its tests did. The timer itself holds up nothing.
 */
export default async function globalTeardown() {
  await globalThis.testInstallation?.stop();
  await Promise.all([globalThis.testRedisServer?.stop(), globalThis.testPostgres?.stop()]);
  setTimeout(() => {
    console.error(`A test left something open: ${process.getActiveResourcesInfo().join(', ')}. Close it where the test ends.`);
    process.exit();
  }, PATIENCE_MS).unref();
}
