import { z } from 'zod';
import { keys, LuaScript, type RedisConnection } from '#redis';

/** How far a partition is archived, and trimmed: 0 for not at all. */
export interface ArchivePosition {
  readonly sealedSeq: number;
  readonly trimmedSeq: number;
  readonly generation: number;
  /** Events up to this one leave Redis as soon as they are archived: their call is erased. */
  readonly eraseSeq: number;
}

/**
 * KEYS[1] hash · ARGV[1] the end of the last segment · ARGV[2] the end of the next as this process proposes it · ARGV[3] tenants
 * whose content is encrypted, as JSON; empty for none · answers the end and the tenants that hold, and whether any were ever named:
 * a process that died while it sealed may have written that segment. Empty when another process has sealed it.
 */
const PROPOSE = new LuaScript(`#!lua
if (redis.call('HGET', KEYS[1], 'sealed') or '0') ~= ARGV[1] then return {} end
if redis.call('HSETNX', KEYS[1], 'proposed', ARGV[2]) == 1 and ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'encrypts', ARGV[3], 'encrypted', '1')
end
local found = redis.call('HMGET', KEYS[1], 'proposed', 'encrypts', 'encrypted')
return {found[1], found[2] or '', found[3] or ''}`);

/** KEYS[1] hash · ARGV[1] the end of the last segment · ARGV[2] of the new one. */
const SEALED = new LuaScript(`#!lua
if (redis.call('HGET', KEYS[1], 'sealed') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'sealed', ARGV[2])
redis.call('HDEL', KEYS[1], 'proposed', 'encrypts')
return 1`);

/**
 * KEYS[1] hash KEYS[2] log · ARGV[1] the last number that is trimmed, which never goes back · ARGV[2] the first entry that stays.
 * Both at once: entries that are missing and not marked would look like a loss.
 */
const TRIM = new LuaScript(`#!lua
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[2])
if tonumber(redis.call('HGET', KEYS[1], 'trimmed') or '0') < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'trimmed', ARGV[1]) end`);

/** KEYS[1] hash · ARGV[1] the event. */
const ERASE = new LuaScript(`#!lua
if tonumber(redis.call('HGET', KEYS[1], 'erase') or '0') < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'erase', ARGV[1]) end`);

/** Asks the process that archives to move events up to this one out of Redis at once. */
export async function requestErase(redis: RedisConnection, partition: string, seq: number): Promise<void> {
  await ERASE.run(redis, [keys.archived(partition)], [seq]);
}

export async function readPosition(redis: RedisConnection, partition: string): Promise<ArchivePosition> {
  const [sealed, trimmed, generation, erase] = await redis.hmget(keys.archived(partition), 'sealed', 'trimmed', 'generation', 'erase');
  return {
    sealedSeq: Number(sealed ?? 0),
    trimmedSeq: Number(trimmed ?? 0),
    generation: Number(generation ?? 1),
    eraseSeq: Number(erase ?? 0),
  };
}

/** What all processes that seal a segment have agreed on, so that they make the same one. */
export interface Proposal {
  readonly end: number;
  /** Tenants whose calls get keys in it. */
  readonly encrypts: readonly string[];
  /** Calls of the partition may have keys. */
  readonly encrypted: boolean;
}

/** Agrees on where the next segment ends, and whose content it encrypts. Undefined when it was sealed meanwhile. */
export async function propose(
  redis: RedisConnection,
  partition: string,
  after: number,
  { end, encrypts }: Pick<Proposal, 'end' | 'encrypts'>,
): Promise<Proposal | undefined> {
  const tenants = encrypts.length === 0 ? '' : JSON.stringify(encrypts);
  const answer = PROPOSED.parse(await PROPOSE.run(redis, [keys.archived(partition)], [after, end, tenants]));
  const [agreed, named, encrypted] = answer;
  if (agreed === undefined) return undefined;
  return { end: Number(agreed), encrypts: named ? TENANTS.parse(JSON.parse(named)) : [], encrypted: encrypted === '1' };
}

const PROPOSED = z.array(z.string());
const TENANTS = z.array(z.string());

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
  await redis.multi().hset(key, { sealed: sealedSeq, generation }).hdel(key, 'proposed', 'encrypts').exec();
}
