export { noticeFailover } from './failover.js';
export { inOneWrite } from './in-one-write.js';
export { SettingsStore } from './settings-store.js';
export * from './keys.js';
export { createRedis, isClosed, isCluster, nameOf, takesCommands, type RedisConnection } from './redis-client.js';
export { LuaScript } from './lua-script.js';
export { readRedisFacts } from './redis-facts.js';
export type { TakeAnswer, TakeScript } from './take-script.js';
