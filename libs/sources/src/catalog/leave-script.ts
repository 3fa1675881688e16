import { LuaScript } from '#redis';

/**
 * Removes an announcer of a source, and with the last one the entry. In one step: an entry that another one announces meanwhile
 * stays.
 * KEYS 1 announcers by the time until which they stay, 2 entries, 3 revisions by source, 4 mark of an entry that expires,
 * 5 revision. ARGV 1 source, 2 announcer.
 */
export const leaveScript = new LuaScript(`#!lua
redis.call('ZREM', KEYS[1], ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('ZCOUNT', KEYS[1], now, '+inf') > 0 then return end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('DEL', KEYS[4])
redis.call('INCR', KEYS[5])`);
