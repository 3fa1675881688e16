--[[
  Puts active jobs without a lock back to the front of the queue: their worker was killed or cut off. A job gets its lock
  in the script that makes it active, so an active job without one has lost it. Allowed above maxmemory: it adds nothing.

  KEYS[1] wait
  KEYS[2] active
  KEYS[3] stalled
  KEYS[4] marker
  KEYS[5] stalled-check  exists while another worker has checked within the interval
  ARGV[1] key prefix of the queue, with the colon at its end
  ARGV[2] interval of these checks, ms: less than the workers' interval

  Returns the ids of the requeued jobs.
]]
--- @include "includes/requeue-at-front"
if not redis.call('SET', KEYS[5], '1', 'PX', ARGV[2], 'NX') then return {} end

local requeued = {}
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  if redis.call('EXISTS', ARGV[1] .. id .. ':lock') == 0 then
    requeueAtFront(KEYS[1], KEYS[2], KEYS[3], id)
    requeued[#requeued + 1] = id
  end
end
if #requeued > 0 then redis.call('ZADD', KEYS[4], 0, '0') end
return requeued
