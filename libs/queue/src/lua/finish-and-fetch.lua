#!lua flags=allow-oom
--[[
  Ends jobs of one worker and gives it others: BullMQ's moveToFinished and moveToActive for many jobs at once.

  KEYS[1] wait          list of jobs that go first (given back, or found stalled)
  KEYS[2] active        list
  KEYS[3] prioritized   zset, see add-jobs.lua
  KEYS[4] stalled       set of active jobs whose lock was not seen renewed
  KEYS[5] meta          hash; `paused` and `concurrency` are obeyed
  KEYS[6] marker        zset; a member wakes one worker that blocks on it
  ARGV[1] key prefix of the queue, with the colon at its end
  ARGV[2] lock token of the worker
  ARGV[3] lock duration, ms
  ARGV[4] how many jobs are wanted
  ARGV[5..] ids of the jobs that ended; one whose lock is not this worker's is left alone

  Answers { 1 when nothing is left to fetch else 0, then for each job: id, data, timestamp, reason of a deferred failure or false }.
  Whenever jobs are left that may run, the marker is set: a worker that got none may block without missing them.
  Runs also above maxmemory: jobs must be able to end.
]]
local prefix, token, lockMs, wanted = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local function finish()
  local lockKeys = {}
  for i = 5, #ARGV do
    lockKeys[i - 4] = prefix .. ARGV[i] .. ':lock'
  end
  local dead, ids = {}, {}
  for i, owner in ipairs(redis.call('MGET', unpack(lockKeys))) do
    if owner == token then
      local id = ARGV[i + 4]
      redis.call('LREM', KEYS[2], -1, id)
      ids[#ids + 1] = id
      dead[#dead + 1] = lockKeys[i]
      dead[#dead + 1] = prefix .. id
    end
  end
  if #ids > 0 then
    redis.call('DEL', unpack(dead))
    redis.call('SREM', KEYS[4], unpack(ids))
  end
end

local function room()
  local limits = redis.call('HMGET', KEYS[5], 'paused', 'concurrency')
  if limits[1] then return 0 end
  if limits[2] then return math.max(0, tonumber(limits[2]) - redis.call('LLEN', KEYS[2])) end
  return math.huge
end

local function waiting()
  return redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[3])
end

-- At most `count` ids, those in the list first.
local function pop(count)
  local ids = redis.call('RPOP', KEYS[1], count) or {}
  if #ids < count then
    local scored = redis.call('ZPOPMIN', KEYS[3], count - #ids)
    for i = 1, #scored, 2 do
      ids[#ids + 1] = scored[i]
    end
  end
  return ids
end

if #ARGV >= 5 then finish() end

local free = room()
local answer = { 1 }
local count = math.min(wanted, free)
local popped = count > 0 and pop(count) or {}
local taken = {}
for _, id in ipairs(popped) do
  local job = redis.call('HMGET', prefix .. id, 'data', 'timestamp', 'defa')
  -- A job without data was removed while it waited.
  if job[1] then
    redis.call('SET', prefix .. id .. ':lock', token, 'PX', lockMs)
    taken[#taken + 1] = id
    answer[#answer + 1] = id
    answer[#answer + 1] = job[1]
    answer[#answer + 1] = job[2]
    answer[#answer + 1] = job[3]
  end
end
if #taken > 0 then redis.call('LPUSH', KEYS[2], unpack(taken)) end

-- Fewer popped than asked for: both were emptied, no need to count.
local exhausted = count > 0 and #popped < count
if not exhausted and free > #taken and waiting() > 0 then
  answer[1] = 0
  redis.call('ZADD', KEYS[6], 0, '0')
end
return answer
