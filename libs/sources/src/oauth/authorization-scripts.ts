import { LuaScript } from '#redis';

/**
 * Replaces a field of a hash where it still is as it was read. Answers 1, or 0 where it has changed.
 * KEYS 1 hash. ARGV 1 field, 2 its text as it was read, 3 the next text.
 */
export const replaceSame = new LuaScript(`#!lua
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1`);

/**
 * Stores an authorization where the definition of its source still is as it was read. Answers the authorization before, an empty
 * text where there was none, or 0 where the definition has changed.
 * KEYS 1 definitions, 2 authorizations, 3 revision. ARGV 1 source, 2 its definition as it was read, 3 the next definition,
 * 4 the authorization.
 */
export const grant = new LuaScript(`#!lua
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local before = redis.call('HGET', KEYS[2], ARGV[1]) or ''
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
if ARGV[3] ~= ARGV[2] then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('INCR', KEYS[3])
end
return before`);

/** Removes a key of which this owner is the holder. KEYS 1 key. ARGV 1 owner. */
export const release = new LuaScript(`#!lua
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`);
