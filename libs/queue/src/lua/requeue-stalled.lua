#!lua flags=allow-oom
--[[
  Puts active jobs that nobody holds back to the front of the queue: the worker that fetched them was killed or cut off.
  A job gets its lock in the script that makes it active, so an active job without one has lost it.

  KEYS[1] wait
  KEYS[2] active
  KEYS[3] stalled
  KEYS[4] marker
  KEYS[5] stalled-check   there when another worker has looked a moment ago
  ARGV[1] key prefix of the queue, with the colon at its end
  ARGV[2] how long that moment is, ms: less than the workers' interval

  Answers the ids given back. Runs also above maxmemory: it makes nothing.
]]
if not redis.call('SET', KEYS[5], '1', 'PX', ARGV[2], 'NX') then return {} end

local given = {}
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  if redis.call('EXISTS', ARGV[1] .. id .. ':lock') == 0 then
    redis.call('LREM', KEYS[2], -1, id)
    redis.call('SREM', KEYS[3], id)
    -- From the newest to the oldest, so that the oldest ends up at the end that is popped first.
    redis.call('RPUSH', KEYS[1], id)
    given[#given + 1] = id
  end
end
if #given > 0 then redis.call('ZADD', KEYS[4], 0, '0') end
return given
