const PATIENCE_MS = 30_000;

/**
 * Stops the Redis of the run. What a test left open would hold up the process for ever: after a while that is a failure
 * which names what is open. The timer itself holds up nothing.
 */
export default async function globalTeardown() {
  await globalThis.testRedisServer?.stop();
  setTimeout(() => {
    console.error(`A test left something open: ${process.getActiveResourcesInfo().join(', ')}. Close it where the test ends.`);
    process.exit(1);
  }, PATIENCE_MS).unref();
}
