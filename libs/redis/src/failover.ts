import calculateSlot from 'cluster-key-slot';
import { Cluster } from 'ioredis';
import { keys, partitionNames } from './keys.js';
import type { RedisConnection } from './redis-client.js';

/**
 * Raises the epoch of partitions whose log another master carries on: it may lack the newest events, and their ids must
 * not be given to others. A promoted replica has a history id of its own and remembers the one before; a master that
 * restarted has only a new one, and lacks nothing.
 * Not refused above maxmemory: what was accepted can always finish, also behind a master that just began.
 * KEYS: for each partition the history that it was in last, and its epoch. Answers nothing; repeating it changes nothing.
 */
const NOTICE = `#!lua flags=allow-oom
local info = redis.pcall('INFO', 'replication')
if type(info) ~= 'string' or not string.find(info, 'role:master', 1, true) then return end
local history = string.match(info, 'master_replid:(%x+)')
local promoted = tonumber(string.match(info, 'second_repl_offset:(%-?%d+)') or -1) >= 0
for i = 1, #KEYS, 2 do
  local before = redis.call('GET', KEYS[i])
  if before ~= history then
    if before and promoted then redis.call('SET', KEYS[i + 1], (redis.call('GET', KEYS[i + 1]) or 1) + 1) end
    redis.call('SET', KEYS[i], history)
  end
end`;

/** To be called before the first write to a master that may be a new one. Rejects while Redis is out of reach. */
export async function noticeFailover(redis: RedisConnection, partitions: readonly string[]): Promise<void> {
  const names = partitions.map((partition) => [keys.history(partition), keys.epoch(partition)]);
  const runs = redis.isCluster ? names : [names.flat()];
  await Promise.all(runs.filter((run) => run.length > 0).map((run) => redis.eval(NOTICE, run.length, ...run)));
}

/** The partitions on the node of the key: on a cluster another node may be away, and is no matter of this one. */
export async function partitionsBeside(redis: RedisConnection, key = ''): Promise<readonly string[]> {
  const all = await allPartitions(redis);
  if (!(redis instanceof Cluster)) return all;
  const nodeOf = (name: string) => redis.slots[calculateSlot(name)]?.[0];
  const node = nodeOf(key);
  return all.filter((partition) => nodeOf(keys.epoch(partition)) === node);
}

/** Fixed for an installation, and on a cluster kept by a node that may be away later. */
const partitionCounts = new WeakMap<RedisConnection, number>();

async function allPartitions(redis: RedisConnection): Promise<string[]> {
  const count = partitionCounts.get(redis) ?? Number(/"partitions":(\d+)/.exec((await redis.get(keys.logMetadata())) ?? '')?.[1] ?? 0);
  if (count > 0) partitionCounts.set(redis, count);
  return partitionNames(count);
}
