--[[
  Completes jobs of one worker and dequeues others for it: BullMQ's moveToFinished and moveToActive for many jobs at once.

  keys[1]    wait         list of requeued jobs, which go first
  keys[2]    active       list
  keys[3]    prioritized  zset, see add-jobs.lua
  keys[4]    stalled      set of active jobs whose lock was not seen renewed
  keys[5]    meta         hash; `paused` and `concurrency` are obeyed
  keys[6]    marker       zset; a member wakes one worker that blocks on it
  keys[7]    fair         hash, see add-jobs.lua and pop-prioritized.lua
  args[1]    key prefix of the queue, with the colon at its end
  args[2]    lock token of the worker
  args[3]    lock duration, ms
  args[4]    number of jobs to dequeue
  args[5..]  ids of the completed jobs

  Returns { 1 when nothing is left to fetch else 0, then for each job: id, data, timestamp, reason of a deferred failure
  or false }. Sets the marker whenever jobs are left that may run: a worker that got none may block without missing them.
]]
--- @include "complete-jobs"
--- @include "pop-prioritized"

-- Number of jobs that may still become active.
local function freeCapacity(meta, active)
  local limits = redis.call('HMGET', meta, 'paused', 'concurrency')
  if limits[1] then return 0 end
  if limits[2] then return math.max(0, tonumber(limits[2]) - redis.call('LLEN', active)) end
  return math.huge
end

-- Returns at most `count` ids, requeued jobs first.
local function popWaiting(wait, prioritized, fair, count)
  local ids = redis.call('RPOP', wait, count) or {}
  if #ids == count then return ids end
  for _, id in ipairs(popPrioritized(prioritized, fair, count - #ids)) do ids[#ids + 1] = id end
  return ids
end

local function completeAndDequeue(keys, args)
  local wait, active, prioritized, stalled, meta, marker, fair = unpack(keys)
  local prefix, token, lockMs, wanted = args[1], args[2], args[3], tonumber(args[4])
  if #args >= 5 then completeJobs(active, stalled, prefix, token, { unpack(args, 5) }) end

  local capacity = freeCapacity(meta, active)
  local count = math.min(wanted, capacity)
  local popped = count > 0 and popWaiting(wait, prioritized, fair, count) or {}
  local answer, taken = { 1 }, {}
  for _, id in ipairs(popped) do
    local job = redis.call('HMGET', prefix .. id, 'data', 'timestamp', 'defa')
    -- Skips a job without data, which was removed while it waited.
    if job[1] then
      redis.call('SET', prefix .. id .. ':lock', token, 'PX', lockMs)
      taken[#taken + 1] = id
      answer[#answer + 1] = id
      answer[#answer + 1] = job[1]
      answer[#answer + 1] = job[2]
      answer[#answer + 1] = job[3]
    end
  end
  if #taken > 0 then redis.call('LPUSH', active, unpack(taken)) end

  -- Fewer ids than requested: list and set are empty, no count needed.
  local exhausted = count > 0 and #popped < count
  if exhausted then redis.call('DEL', fair) end
  if not exhausted and capacity > #taken and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) > 0 then
    answer[1] = 0
    redis.call('ZADD', marker, 0, '0')
  end
  return answer
end
