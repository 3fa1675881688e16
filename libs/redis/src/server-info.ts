import type { RedisServerInfo } from '#contracts';
import { measureMemory } from './memory/measure-memory.js';
import type { RedisConnection } from './redis-client.js';

/** Reads facts about the server: on a cluster from any node, memory from the fullest master. Rejects while Redis is unreachable. */
export async function getServerInfo(redis: RedisConnection): Promise<RedisServerInfo> {
  const [info, memory, appendFsync, minReplicas, [seconds, micros]] = await Promise.all([
    redis.info(),
    measureMemory(redis),
    settingOf(redis, 'appendfsync'),
    settingOf(redis, 'min-replicas-to-write'),
    redis.time(),
  ]);
  // oxlint-disable-next-line no-restricted-globals -- names of fields in this file
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const valkey = field('valkey_version');
  return {
    server: valkey === '' ? 'redis' : 'valkey',
    version: valkey || field('redis_version'),
    mode: field('redis_mode') || field('server_mode'),
    role: field('role'),
    replicas: Number(field('connected_slaves')) || 0,
    appendOnly: field('aof_enabled') === '1',
    ...(appendFsync === undefined ? {} : { appendFsync }),
    ...(minReplicas === undefined ? {} : { minReplicasToWrite: Number(minReplicas) }),
    lastWriteOk: field('aof_last_write_status') !== 'err',
    maxmemoryPolicy: field('maxmemory_policy'),
    maxmemoryBytes: memory.maxBytes,
    usedMemoryBytes: memory.usedBytes,
    time: new Date(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)).toISOString(),
  };
}

/** Reads a setting; undefined where hosted Redis forbids CONFIG. */
async function settingOf(redis: RedisConnection, name: string): Promise<string | undefined> {
  try {
    const answer: unknown = await redis.config('GET', name);
    const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
