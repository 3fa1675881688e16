import { keys, LuaScript, type RedisConnection } from '#redis';

/** How far a partition is archived, and trimmed: 0 for not at all. */
export interface ArchivePosition {
  readonly sealedSeq: number;
  readonly trimmedSeq: number;
  readonly generation: number;
}

/**
 * KEYS[1] hash · ARGV[1] the end of the last segment · ARGV[2] the end of the next as this process proposes it · answers the end
 * that holds: a process that died while it sealed may have written that segment. -1 when another process has sealed it.
 */
const PROPOSE = new LuaScript(`#!lua
if (redis.call('HGET', KEYS[1], 'sealed') or '0') ~= ARGV[1] then return -1 end
redis.call('HSETNX', KEYS[1], 'proposed', ARGV[2])
return tonumber(redis.call('HGET', KEYS[1], 'proposed'))`);

/** KEYS[1] hash · ARGV[1] the end of the last segment · ARGV[2] of the new one. */
const SEALED = new LuaScript(`#!lua
if (redis.call('HGET', KEYS[1], 'sealed') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'sealed', ARGV[2])
redis.call('HDEL', KEYS[1], 'proposed')
return 1`);

/**
 * KEYS[1] hash KEYS[2] log · ARGV[1] the last number that is trimmed, which never goes back · ARGV[2] the first entry that stays.
 * Both at once: entries that are missing and not marked would look like a loss.
 */
const TRIM = new LuaScript(`#!lua
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[2])
if tonumber(redis.call('HGET', KEYS[1], 'trimmed') or '0') < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'trimmed', ARGV[1]) end`);

export async function readPosition(redis: RedisConnection, partition: string): Promise<ArchivePosition> {
  const [sealed, trimmed, generation] = await redis.hmget(keys.archived(partition), 'sealed', 'trimmed', 'generation');
  return { sealedSeq: Number(sealed ?? 0), trimmedSeq: Number(trimmed ?? 0), generation: Number(generation ?? 1) };
}

/** Agrees on where the next segment ends: all processes that seal it make the same one. Undefined when it was sealed meanwhile. */
export async function proposeEnd(redis: RedisConnection, partition: string, after: number, to: number): Promise<number | undefined> {
  const end = Number(await PROPOSE.run(redis, [keys.archived(partition)], [after, to]));
  return end < 0 ? undefined : end;
}

/** False when another process was first, which is as good. */
export async function markSealed(redis: RedisConnection, partition: string, after: number, to: number): Promise<boolean> {
  return (await SEALED.run(redis, [keys.archived(partition)], [after, to])) === 1;
}

/** Removes the entries up to `to`, and notes it. */
export async function trimTo(redis: RedisConnection, partition: string, to: number): Promise<void> {
  await TRIM.run(redis, [keys.archived(partition), keys.log(partition)], [to, `${to + 1}-0`]);
}

/** Takes over what the archive has when Redis knows less, or begins a new generation. */
export async function resetPosition(redis: RedisConnection, partition: string, sealedSeq: number, generation: number): Promise<void> {
  const key = keys.archived(partition);
  await redis.multi().hset(key, { sealed: sealedSeq, generation }).hdel(key, 'proposed').exec();
}
