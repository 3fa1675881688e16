--[[
  Adds jobs as add-jobs.lua does, and hands them to workers that are idle, unless others wait already: they need not be
  woken, ask and be answered. A worker's note is used once, for as many jobs as it has slots. `addJobs` and `take` stand
  before these lines.

  KEYS[1..7] those of complete-and-dequeue.lua
  KEYS[8]    idle   hash of notes: lock token of a worker = "<until, ms> <slots> <number of the note> <lock, ms> <JSON list of arguments>"
  ARGV       those of add-jobs.lua

  A worker hears of its jobs on the channel <key prefix>hand:<lock token>, as JSON:
  [number of its note, what complete-and-dequeue.lua answers, what was said about the calls or false].
  Nothing is handed to one that does not listen. If the message gets lost on its way, the jobs stand under its lock.
  The marker is set only when something is left.
]]
local prefix = ARGV[1]
local added = addJobs({ KEYS[3], KEYS[7] }, ARGV)

local now
local function holds(untilMs)
  local time = now or redis.call('TIME')
  now = time
  return time[1] * 1000 + math.floor(time[2] / 1000) < tonumber(untilMs)
end

local left = true
local alone = redis.call('LLEN', KEYS[1]) == 0 and redis.call('ZCARD', KEYS[3]) == added
while left and alone do
  local token, note = unpack(redis.call('HRANDFIELD', KEYS[8], 1, 'WITHVALUES'))
  if not token then break end
  local untilMs, slots, number, lockMs, own = string.match(note, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  local channel = prefix .. 'hand:' .. token
  if holds(untilMs) and redis.call('PUBSUB', 'NUMSUB', channel)[2] > 0 then
    local fetched, answers = take(KEYS, cjson.decode(own), { prefix, token, lockMs, slots })
    -- Nothing may run now, so the note is not used either.
    if #fetched == 1 then break end
    redis.call('PUBLISH', channel, cjson.encode({ tonumber(number), fetched, answers or false }))
    left = fetched[1] == 0
  end
  redis.call('HDEL', KEYS[8], token)
end
if left then redis.call('ZADD', KEYS[6], 0, '0') end
return added
