export { noticeFailover } from './failover.js';
export { writeTogether as inOneWrite } from './write-together.js';
export { ContentAddressedStore as SettingsStore } from './content-addressed-store.js';
export * from './keys.js';
export { createRedis, isClosed, isCluster, nameOf, takesCommands, type RedisConnection } from './redis-client.js';
export { LuaScript } from './lua-script.js';
export { getServerInfo as readRedisFacts } from './server-info.js';
export type { DequeueHookResult as TakeAnswer, DequeueHook as TakeScript } from './dequeue-hook.js';
