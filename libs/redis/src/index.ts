export { noticeFailover } from './failover.js';
export { writeTogether } from './write-together.js';
export { ContentAddressedStore } from './content-addressed-store.js';
export { DigestCache } from './digest-cache.js';
export * from './keys.js';
export {
  waitUntilConnected,
  createRedis,
  isClosed,
  isCluster,
  connectionName,
  openConnections,
  acceptsCommands,
  type RedisConnection,
} from './redis-client.js';
export { getTogether } from './get-together.js';
export { listenToChannels } from './listen-to-channels.js';
export { loadLua } from './lua-loader.js';
export { LuaScript } from './lua-script.js';
export { FULL_SHARE, measureMemory, memoryShare } from './memory/measure-memory.js';
export { partitionGroups } from './partition-groups.js';
export { RedisMemory, type MemoryLevel } from './memory/redis-memory.js';
export { redisNow } from './redis-now.js';
export { ReplicaNumber } from './replica-number.js';
export { ReplicaBarrier, waitForReplicas } from './replica-wait.js';
export { openText, sealText } from './sealed-text.js';
export { getServerInfo } from './server-info.js';
export { sha256Hex } from './sha256-hex.js';
