export default async function globalTeardown() {
  await globalThis.testRedisServer?.stop();
}
