import { LuaScript } from '#redis';

/**
 * Moves people's messages to a session into a turn of a sub-agent, in order. A repetition adds later ones. KEYS 1 steering, 2
 * journal of the sub-agent. ARGV 1 field of the turn, 2 TTL of the journal in s. All keys are of one partition.
 */
export const takeSteeringScript = new LuaScript(`#!lua flags=allow-oom
local messages = redis.call('LRANGE', KEYS[1], 0, -1)
if #messages == 0 then return 0 end
local before = redis.call('HGET', KEYS[2], ARGV[1])
local text = table.concat(messages, ',')
redis.call('HSET', KEYS[2], ARGV[1], before and (string.sub(before, 1, -2) .. ',' .. text .. ']') or ('[' .. text .. ']'))
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[1])
return #messages`);
