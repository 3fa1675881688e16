--[[
  Adds jobs as add-jobs.lua does. If no other jobs wait, dispatches them directly to idle workers (Temporal's sync match), which
  saves the wake-up and the poll. A registration is consumed once, for as many jobs as it has slots.

  KEYS[1..7] those of includes/complete-and-dequeue.lua
  KEYS[8]    idle  hash of registrations: lock token of a worker =
             "<valid until, ms> <slots> <number of the registration> <lock, ms> <JSON list of the hook's arguments>"
  ARGV       those of includes/add-jobs.lua

  A worker gets its jobs on the channel <key prefix>hand:<lock token>, as JSON:
  [number of its registration, result of complete-and-dequeue.lua, result of the dequeue hook or false].
  A worker that is not subscribed gets none. If the message is lost on its way, the jobs are active under its lock.

  Returns the number of new jobs. Sets the marker only if jobs are left.
]]
--- @include "includes/add-jobs"
--- @include "includes/dequeue-and-claim"
local prefix = ARGV[1]
local added = addJobs({ KEYS[3], KEYS[7] }, ARGV)

local nowMs
local function isValid(untilMs)
  if not nowMs then
    local time = redis.call('TIME')
    nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return nowMs < tonumber(untilMs)
end

local left = true
local alone = redis.call('LLEN', KEYS[1]) == 0 and redis.call('ZCARD', KEYS[3]) == added
while left and alone do
  local token, registration = unpack(redis.call('HRANDFIELD', KEYS[8], 1, 'WITHVALUES'))
  if not token then break end
  local untilMs, slots, number, lockMs, hookArgs = string.match(registration, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  local channel = prefix .. 'hand:' .. token
  if isValid(untilMs) and redis.call('PUBSUB', 'NUMSUB', channel)[2] > 0 then
    local fetched, answers = dequeueAndClaim(KEYS, cjson.decode(hookArgs), { prefix, token, lockMs, slots })
    -- No job may run now, for example because the queue is paused. The registration stays.
    if #fetched == 1 then break end
    redis.call('PUBLISH', channel, cjson.encode({ tonumber(number), fetched, answers or false }))
    left = fetched[1] == 0
  end
  redis.call('HDEL', KEYS[8], token)
end
if left then redis.call('ZADD', KEYS[6], 0, '0') end
return added
