export { noticeFailover } from './failover.js';
export { writeTogether } from './write-together.js';
export { ContentAddressedStore } from './content-addressed-store.js';
export * from './keys.js';
export { connected, createRedis, isClosed, isCluster, connectionName, acceptsCommands, type RedisConnection } from './redis-client.js';
export { loadLua } from './lua-loader.js';
export { LuaScript } from './lua-script.js';
export { type ReplicaWait, waitForReplicas } from './replica-wait.js';
export { getServerInfo } from './server-info.js';
