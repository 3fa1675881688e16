import type { RedisServerInfo } from '#contracts';
import type { RedisConnection } from './redis-client.js';

/** Asks a Redis about itself. Rejects when it is out of reach. */
export async function getServerInfo(redis: RedisConnection): Promise<RedisServerInfo> {
  const [info, appendFsync, [seconds, micros]] = await Promise.all([redis.info(), settingOf(redis, 'appendfsync'), redis.time()]);
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
    lastWriteOk: field('aof_last_write_status') !== 'err',
    maxmemoryPolicy: field('maxmemory_policy'),
    maxmemoryBytes: Number(field('maxmemory')) || 0,
    usedMemoryBytes: Number(field('used_memory')) || 0,
    time: new Date(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)).toISOString(),
  };
}

/** Hosted Redis forbids CONFIG. */
async function settingOf(redis: RedisConnection, name: string): Promise<string | undefined> {
  try {
    const answer: unknown = await redis.config('GET', name);
    const value: unknown = Array.isArray(answer) ? answer[1] : undefined;
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
