--[[
  Puts active jobs of one worker back to the front of the queue: jobs under its lock token that are unknown to it or that it
  will not run, after a lost answer or when the worker closes. Allowed above maxmemory.

  KEYS[1] wait
  KEYS[2] active
  KEYS[3] prioritized
  KEYS[4] stalled
  KEYS[5] marker
  ARGV[1]   key prefix of the queue, with the colon at its end
  ARGV[2]   lock token of the worker
  ARGV[3..] ids of the jobs that it keeps

  Returns the number of requeued jobs. Sets the marker if jobs wait, in case a wake-up was lost.
]]
--- @include "includes/requeue-at-front"
local prefix, token = ARGV[1], ARGV[2]
local kept = {}
for i = 3, #ARGV do kept[ARGV[i]] = true end

local requeued = 0
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  local lockKey = prefix .. id .. ':lock'
  if not kept[id] and redis.call('GET', lockKey) == token then
    redis.call('DEL', lockKey)
    requeueAtFront(KEYS[1], KEYS[2], KEYS[4], id)
    requeued = requeued + 1
  end
end
if redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[3]) > 0 then redis.call('ZADD', KEYS[5], 0, '0') end
return requeued
