import { z } from 'zod';
import { keys, LuaScript, type RedisConnection } from '#redis';

/** Last event of a partition that is archived, and trimmed; 0 for none. */
export interface ArchivePosition {
  readonly sealedSeq: number;
  readonly trimmedSeq: number;
  readonly generation: number;
  /** Last event of an erased call: events up to it leave Redis as soon as they are archived. */
  readonly eraseSeq: number;
}

/**
 * KEYS[1] hash · ARGV[1] end of the last segment · ARGV[2] proposed end of the next · ARGV[3] tenants whose content is
 * encrypted, as JSON; empty for none · returns the valid end and tenants, which a process that died may have proposed before,
 * and whether any tenant was ever named. Empty if another process has sealed the segment.
 */
const PROPOSE = new LuaScript(`#!lua
if (redis.call('HGET', KEYS[1], 'sealed') or '0') ~= ARGV[1] then return {} end
if redis.call('HSETNX', KEYS[1], 'proposed', ARGV[2]) == 1 and ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'encrypts', ARGV[3], 'encrypted', '1')
end
local found = redis.call('HMGET', KEYS[1], 'proposed', 'encrypts', 'encrypted')
return {found[1], found[2] or '', found[3] or ''}`);

/** KEYS[1] hash · ARGV[1] end of the last segment · ARGV[2] end of the new one. */
const SEALED = new LuaScript(`#!lua
if (redis.call('HGET', KEYS[1], 'sealed') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'sealed', ARGV[2])
redis.call('HDEL', KEYS[1], 'proposed', 'encrypts')
return 1`);

/**
 * KEYS[1] hash KEYS[2] log · ARGV[1] last trimmed number, which never falls · ARGV[2] first entry that stays. Atomic, since
 * missing entries without the mark would look like a loss.
 */
const TRIM = new LuaScript(`#!lua
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[2])
if tonumber(redis.call('HGET', KEYS[1], 'trimmed') or '0') < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'trimmed', ARGV[1]) end`);

/** KEYS[1] hash · ARGV[1] sequence number of the event. */
const ERASE = new LuaScript(`#!lua
if tonumber(redis.call('HGET', KEYS[1], 'erase') or '0') < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'erase', ARGV[1]) end`);

/** Requests that events up to this one leave Redis as soon as they are archived. */
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

/** Agreement of all processes that seal a segment, so that they make the same one. */
export interface Proposal {
  readonly end: number;
  /** Tenants whose calls get keys in the segment. */
  readonly encrypts: readonly string[];
  /** True if calls of the partition may have keys. */
  readonly encrypted: boolean;
}

/** Agrees on the end of the next segment, and the tenants with encryption. Undefined if it was sealed meanwhile. */
export async function propose(
  redis: RedisConnection,
  partition: string,
  after: number,
  { end, encrypts }: Pick<Proposal, 'end' | 'encrypts'>,
): Promise<Proposal | undefined> {
  const tenants = encrypts.length === 0 ? '' : JSON.stringify(encrypts);
  const answer = PROPOSED.parse(await PROPOSE.run(redis, [keys.archived(partition)], [after, end, tenants]));
  const [validEnd, tenantsText, encrypted] = answer;
  if (validEnd === undefined) return undefined;
  return { end: Number(validEnd), encrypts: tenantsText ? TENANTS.parse(JSON.parse(tenantsText)) : [], encrypted: encrypted === '1' };
}

const PROPOSED = z.array(z.string());
const TENANTS = z.array(z.string());

/** False if another process was first, which is equivalent. */
export async function markSealed(redis: RedisConnection, partition: string, after: number, to: number): Promise<boolean> {
  return (await SEALED.run(redis, [keys.archived(partition)], [after, to])) === 1;
}

/** Removes the entries up to `to`, and records that. */
export async function trimTo(redis: RedisConnection, partition: string, to: number): Promise<void> {
  await TRIM.run(redis, [keys.archived(partition), keys.log(partition)], [to, `${to + 1}-0`]);
}

/** Sets the position to that of the archive after Redis lost it, or begins a new generation. */
export async function resetPosition(redis: RedisConnection, partition: string, sealedSeq: number, generation: number): Promise<void> {
  const key = keys.archived(partition);
  await redis.multi().hset(key, { sealed: sealedSeq, generation }).hdel(key, 'proposed', 'encrypts').exec();
}
