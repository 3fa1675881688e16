import { LuaScript } from '#redis';

/**
 * Pins tools of a source and counts the bytes of its pins. Repeating it changes no pin and no count.
 * KEYS 1 digests, 2 texts, 3 bytes by source, 4 revisions by source, 5 revision. ARGV 1 source, 2 `keep` or `replace` pins that are
 * there, 3 bytes of a pin besides its text, empty for a source that is not counted, 4… raw name, digest and text of each tool.
 * `replace` raises the revisions.
 */
export const pinScript = new LuaScript(`#!lua
local replaces, besides = ARGV[2] == 'replace', tonumber(ARGV[3])
local bytes = besides and tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or '')
if besides and not bytes then
  bytes = 0
  for _, text in ipairs(redis.call('HVALS', KEYS[2])) do bytes = bytes + #text + besides end
end
for i = 4, #ARGV, 3 do
  redis.call(replaces and 'HSET' or 'HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
  local before = redis.call('HSTRLEN', KEYS[2], ARGV[i])
  if replaces or before == 0 then
    if besides then bytes = bytes + #ARGV[i + 2] - before + (before == 0 and besides or 0) end
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
  end
end
if besides then redis.call('HSET', KEYS[3], ARGV[1], string.format('%.0f', bytes)) else redis.call('HDEL', KEYS[3], ARGV[1]) end
if replaces then
  redis.call('HINCRBY', KEYS[4], ARGV[1], 1)
  redis.call('INCR', KEYS[5])
end`);
