#!lua flags=allow-oom
--[[
  Ends jobs of one worker and gives it others: BullMQ's moveToFinished and moveToActive for many jobs at once.

  KEYS[1] wait          list of jobs that go first (given back, or found stalled)
  KEYS[2] active        list
  KEYS[3] prioritized   zset, see add-jobs.lua
  KEYS[4] stalled       set of active jobs whose lock was not seen renewed
  KEYS[5] meta          hash; `paused` and `concurrency` are obeyed
  KEYS[6] marker        zset; a member wakes one worker that blocks on it
  KEYS[7] fair          hash, see add-jobs.lua; here also s<class> = how often the class was passed over
  ARGV[1] key prefix of the queue, with the colon at its end
  ARGV[2] lock token of the worker
  ARGV[3] lock duration, ms
  ARGV[4] how many jobs are wanted
  ARGV[5..] ids of the jobs that ended; one whose lock is not this worker's is left alone

  Answers { 1 when nothing is left to fetch else 0, then for each job: id, data, timestamp, reason of a deferred failure or false }.
  Whenever jobs are left that may run, the marker is set: a worker that got none may block without missing them.
  Runs also above maxmemory: jobs must be able to end.

  A higher class goes first, with patience: when a class that waits was passed over PATIENCE times, its first job is next.
]]
local CLASS, PATIENCE = 0x100000000, { [2] = 8, [3] = 32 }
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

local function classOf(score) return math.floor(score / CLASS) end

-- Remembers how far the tags of a class were served: `scored` has ids and scores in turn.
local function served(scored)
  local taken, fields = {}, {}
  for i = 2, #scored, 2 do
    local class = classOf(scored[i])
    taken[class] = math.max(taken[class] or 0, math.floor(scored[i] - class * CLASS))
  end
  for class, tag in pairs(taken) do
    fields[#fields + 1] = 'v' .. class
    fields[#fields + 1] = tag
  end
  redis.call('HSET', KEYS[7], unpack(fields))
end

-- The class whose turn it is: one that has lost patience, else the highest. `heads` has the first job of each class that waits.
local function turn(heads, passed)
  local highest
  for class = 3, 1, -1 do
    if heads[class] then
      highest = class
      if PATIENCE[class] and passed[class] >= PATIENCE[class] then return class end
    end
  end
  return highest
end

-- `count` jobs while several classes wait.
local function popByTurns(count)
  local waiting, at, passed = {}, { 1, 1, 1 }, redis.call('HMGET', KEYS[7], 's1', 's2', 's3')
  for class = 1, 3 do
    waiting[class] = redis.call('ZRANGEBYSCORE', KEYS[3], class * CLASS, '(' .. (class + 1) * CLASS, 'WITHSCORES', 'LIMIT', 0, count)
    passed[class] = tonumber(passed[class] or 0)
  end
  local scored, ids = {}, {}
  for n = 1, count do
    local heads = { waiting[1][at[1]], waiting[2][at[2]], waiting[3][at[3]] }
    local class = turn(heads, passed)
    if not class then break end
    scored[2 * n - 1], scored[2 * n], ids[n] = heads[class], tonumber(waiting[class][at[class] + 1]), heads[class]
    at[class] = at[class] + 2
    passed[class] = 0
    for lower = class + 1, 3 do
      if heads[lower] then passed[lower] = passed[lower] + 1 end
    end
  end
  if #ids > 0 then redis.call('ZREM', KEYS[3], unpack(ids)) end
  redis.call('HSET', KEYS[7], 's2', passed[2], 's3', passed[3])
  return scored
end

-- At most `count` ids with their scores, in turn.
local function popWaiting(count)
  local scored = redis.call('ZPOPMIN', KEYS[3], count)
  for i = 2, #scored, 2 do scored[i] = tonumber(scored[i]) end
  if #scored < 2 * count then return scored end
  local last = redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')
  if not last[2] or classOf(last[2]) == classOf(scored[2]) then return scored end
  local back = {}
  for i = 1, #scored, 2 do
    back[i], back[i + 1] = scored[i + 1], scored[i]
  end
  redis.call('ZADD', KEYS[3], unpack(back))
  return popByTurns(count)
end

-- At most `count` ids, those in the list first.
local function pop(count)
  local ids = redis.call('RPOP', KEYS[1], count) or {}
  if #ids < count then
    local scored = popWaiting(count - #ids)
    if #scored > 0 then served(scored) end
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
if exhausted then redis.call('DEL', KEYS[7]) end
if not exhausted and free > #taken and waiting() > 0 then
  answer[1] = 0
  redis.call('ZADD', KEYS[6], 0, '0')
end
return answer
