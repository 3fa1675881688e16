import calculateSlot from 'cluster-key-slot';
import { Cluster } from 'ioredis';
import { keys, partitionNames } from './keys.js';
import type { RedisConnection } from './redis-client.js';

/**
 * Raises the epoch of partitions whose log has moved to another master: it may lack the newest events, whose ids must not be
 * used again. A promoted replica has a new history id and the previous one; a restarted master has only a new one, and lacks no
 * event. Allowed above maxmemory, so that accepted calls can always finish, even on a new master. KEYS: for each partition its
 * last history, and its epoch. Returns nothing. Idempotent.
 */
const NOTICE = `#!lua flags=allow-oom
local info = redis.pcall('INFO', 'replication')
if type(info) ~= 'string' or not string.find(info, 'role:master', 1, true) then return end
local history = string.match(info, 'master_replid:(%x+)')
local promoted = tonumber(string.match(info, 'second_repl_offset:(%-?%d+)') or -1) >= 0
local stored = redis.call('MGET', unpack(KEYS))
for i = 1, #KEYS, 2 do
  local before = stored[i]
  if before ~= history then
    if before and promoted then redis.call('SET', KEYS[i + 1], (stored[i + 1] or 1) + 1) end
    redis.call('SET', KEYS[i], history)
  end
end`;

/** Called before the first write to a master that may be new. Rejects while Redis is unreachable. */
export async function noticeFailover(redis: RedisConnection, partitions: readonly string[]): Promise<void> {
  const names = partitions.map((partition) => [keys.history(partition), keys.epoch(partition)]);
  const runs = redis.isCluster ? names : [names.flat()];
  await Promise.all(runs.filter((run) => run.length > 0).map((run) => redis.eval(NOTICE, run.length, ...run)));
}

/** Partitions on the node of the key. On a cluster, other nodes may be down and are not asked. */
export async function partitionsBeside(redis: RedisConnection, key = ''): Promise<readonly string[]> {
  const all = await allPartitions(redis);
  if (!(redis instanceof Cluster)) return all;
  const nodeOf = (name: string) => redis.slots[calculateSlot(name)]?.[0];
  const node = nodeOf(key);
  return all.filter((partition) => nodeOf(keys.epoch(partition)) === node);
}

/** Number of partitions: fixed for an installation, cached since its node of a cluster may be down later. */
const partitionCounts = new WeakMap<RedisConnection, number>();

async function allPartitions(redis: RedisConnection): Promise<string[]> {
  const count = partitionCounts.get(redis) ?? Number(/"partitions":(\d+)/.exec((await redis.get(keys.logMetadata())) ?? '')?.[1] ?? 0);
  if (count > 0) partitionCounts.set(redis, count);
  return partitionNames(count);
}
