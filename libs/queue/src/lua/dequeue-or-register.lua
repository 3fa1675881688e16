--[[
  Completes jobs of one worker and dequeues others for it, with the answers of the dequeue hook. Registers a worker for which
  nothing is left as idle: the next jobs are dispatched to it directly (direct-dispatch.lua).

  KEYS[1..7] those of includes/complete-and-dequeue.lua
  KEYS[8]    idle  hash of registrations by lock token, see direct-dispatch.lua
  ARGV[1]    1 when the worker believes that it is registered, else 0
  ARGV[2]    number of its free slots before this dequeue; 0 without direct dispatch
  ARGV[3]    number of the registration, which comes back with dispatched jobs
  ARGV[4]    lifetime of the registration, ms
  ARGV[5]    number of arguments of the dequeue hook; they follow, then the args of includes/complete-and-dequeue.lua

  Returns { result of complete-and-dequeue.lua, code, result of the dequeue hook }. The code is
    0  not registered   1  registered   2  not registered, and the earlier registration was gone
]]
--- @include "includes/dequeue-and-claim"
local registered, freeSlots, number, ttlMs, count = ARGV[1] == '1', tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local hookArgs, args = {}, {}
for i = 6, count + 5 do hookArgs[i - 5] = ARGV[i] end
for i = count + 6, #ARGV do args[i - count - 5] = ARGV[i] end
local token, lockMs = args[2], args[3]

-- A missing registration was consumed or has expired: a message with jobs for all slots may be under way.
local gone = redis.call('HDEL', KEYS[8], token) == 0 and registered
if gone then
  freeSlots, args[4] = 0, '0'
end

local fetched, answers = dequeueAndClaim(KEYS, hookArgs, args)
freeSlots = freeSlots - (#fetched - 1) / 4
if fetched[1] == 0 or freeSlots <= 0 then return { fetched, gone and 2 or 0, answers } end

local time = redis.call('TIME')
local validUntil = time[1] * 1000 + math.floor(time[2] / 1000) + ttlMs
redis.call('HSET', KEYS[8], token, string.format('%.0f %d %s %s ', validUntil, freeSlots, number, lockMs) .. cjson.encode(hookArgs))
-- Expires the registrations of killed workers.
redis.call('PEXPIRE', KEYS[8], 10 * ttlMs)
return { fetched, 1, answers }
