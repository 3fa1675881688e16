--[[
  Moves jobs of one queue to another queue of the same hash tag, and deletes the first queue when it is empty. To be
  called until nothing is left. A job that the other queue has as well is only deleted. Allowed above maxmemory: it adds
  nothing.

  Active jobs go to the front: their worker may be gone. One that still runs such a job goes on with its call, which the
  log then gives to no other worker. It finds its lock gone and leaves the job alone.

  KEYS[1..5]  of the queue that is emptied: wait, active, prioritized, fair, meta
  KEYS[6..10] of the other queue: wait, prioritized, fair, meta, marker
  KEYS[11..]  of the queue that is emptied: all that is to be deleted
  ARGV[1] key prefix of the queue that is emptied, with the colon at its end
  ARGV[2] key prefix of the other queue, with the colon at its end
  ARGV[3] how many jobs are moved at most

  Returns { how many jobs were moved, how many are left }.
]]
local wait, active, prioritized, fair, meta = unpack(KEYS, 1, 5)
local newWait, newPrioritized, newFair, newMeta, newMarker = unpack(KEYS, 6, 10)
local prefix, newPrefix, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local taken, moved = 0, 0

-- Returns whether the job is to be added to the other queue.
local function moveJob(id)
  taken = taken + 1
  local key = prefix .. id
  redis.call('DEL', key .. ':lock')
  -- A job without a hash was removed while it waited.
  if redis.call('EXISTS', key) == 0 then return false end
  if redis.call('RENAMENX', key, newPrefix .. id) == 0 then
    redis.call('DEL', key)
    return false
  end
  moved = moved + 1
  return true
end

-- A queue that was paused or limited stays so.
for _, field in ipairs({ 'paused', 'concurrency' }) do
  local value = redis.call('HGET', meta, field)
  if value then redis.call('HSETNX', newMeta, field, value) end
end
-- The scores of the jobs are meant for these tags. Without them only fairness suffers.
if redis.call('EXISTS', fair) == 1 then redis.call('RENAMENX', fair, newFair) end

-- The right end of a list is its front.
for _, list in ipairs({ active, wait }) do
  for _, id in ipairs(taken < limit and redis.call('RPOP', list, limit - taken) or {}) do
    if moveJob(id) then redis.call('LPUSH', newWait, id) end
  end
end
local scored = taken < limit and redis.call('ZPOPMIN', prioritized, limit - taken) or {}
for i = 1, #scored, 2 do
  if moveJob(scored[i]) then redis.call('ZADD', newPrioritized, scored[i + 1], scored[i]) end
end

if moved > 0 then redis.call('ZADD', newMarker, 0, '0') end
local left = redis.call('LLEN', wait) + redis.call('LLEN', active) + redis.call('ZCARD', prioritized)
if left == 0 then redis.call('DEL', unpack(KEYS, 11)) end
return { moved, left }
