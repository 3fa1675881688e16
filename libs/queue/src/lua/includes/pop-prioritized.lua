--[[
  Pops jobs from the sorted set in their order: the highest priority first, with aging. After AGING_LIMIT skips in a row the
  first job of a waiting priority is next.

  prioritized  zset, see add-jobs.lua
  fair         hash, see add-jobs.lua; here also s<priority> = how often the priority was skipped
  count        number of jobs to pop, at least 1

  Returns at most `count` ids.
]]
--- @include "priority-of"
local AGING_LIMIT = { [2] = 8, [3] = 32 }

-- Next priority. `heads` has the first job of each waiting priority, `skips` the number of skips of each.
local function nextPriority(heads, skips)
  local highest
  for priority = 3, 1, -1 do
    if heads[priority] then
      highest = priority
      if AGING_LIMIT[priority] and skips[priority] >= AGING_LIMIT[priority] then return priority end
    end
  end
  return highest
end

-- Pops `count` jobs while several priorities wait. Returns ids and scores in turn.
local function popWithAging(prioritized, fair, count)
  local waiting, at, skips = {}, { 1, 1, 1 }, redis.call('HMGET', fair, 's1', 's2', 's3')
  for priority = 1, 3 do
    local from, to = priority * PRIORITY_SPAN, '(' .. (priority + 1) * PRIORITY_SPAN
    waiting[priority] = redis.call('ZRANGEBYSCORE', prioritized, from, to, 'WITHSCORES', 'LIMIT', 0, count)
    skips[priority] = tonumber(skips[priority] or 0)
  end
  local scored, ids = {}, {}
  for n = 1, count do
    local heads = { waiting[1][at[1]], waiting[2][at[2]], waiting[3][at[3]] }
    local priority = nextPriority(heads, skips)
    if not priority then break end
    scored[2 * n - 1], scored[2 * n], ids[n] = heads[priority], tonumber(waiting[priority][at[priority] + 1]), heads[priority]
    at[priority] = at[priority] + 2
    skips[priority] = 0
    for lower = priority + 1, 3 do
      if heads[lower] then skips[lower] = skips[lower] + 1 end
    end
  end
  if #ids > 0 then redis.call('ZREM', prioritized, unpack(ids)) end
  redis.call('HSET', fair, 's2', skips[2], 's3', skips[3])
  return scored
end

-- Pops `count` jobs. Returns ids and scores in turn.
local function popScored(prioritized, fair, count)
  local scored = redis.call('ZPOPMIN', prioritized, count)
  for i = 2, #scored, 2 do scored[i] = tonumber(scored[i]) end
  if #scored < 2 * count then return scored end
  local last = redis.call('ZRANGE', prioritized, -1, -1, 'WITHSCORES')
  if not last[2] or priorityOf(last[2]) == priorityOf(scored[2]) then return scored end
  -- Several priorities wait: puts the jobs back, and pops with aging.
  local back = {}
  for i = 1, #scored, 2 do
    back[i], back[i + 1] = scored[i + 1], scored[i]
  end
  redis.call('ZADD', prioritized, unpack(back))
  return popWithAging(prioritized, fair, count)
end

-- Advances the virtual time of each priority to its last popped tag.
local function advanceVirtualTime(fair, scored)
  local tags, fields = {}, {}
  for i = 2, #scored, 2 do
    local priority = priorityOf(scored[i])
    tags[priority] = math.max(tags[priority] or 0, math.floor(scored[i] - priority * PRIORITY_SPAN))
  end
  for priority, tag in pairs(tags) do
    fields[#fields + 1] = 'v' .. priority
    fields[#fields + 1] = tag
  end
  redis.call('HSET', fair, unpack(fields))
end

local function popPrioritized(prioritized, fair, count)
  local scored, ids = popScored(prioritized, fair, count), {}
  if #scored > 0 then advanceVirtualTime(fair, scored) end
  for i = 1, #scored, 2 do
    ids[#ids + 1] = scored[i]
  end
  return ids
end
