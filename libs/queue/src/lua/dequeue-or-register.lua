--[[
  Completes jobs of one worker and gives it others, with the answers of the dequeue hook. When nothing is left for the
  worker, it is registered as idle: jobs that are added next are dispatched to it directly (direct-dispatch.lua).

  KEYS[1..7] those of includes/complete-and-dequeue.lua
  KEYS[8]    idle  hash of registrations by lock token, see direct-dispatch.lua
  ARGV[1]    1 when the worker believes that it is registered, else 0
  ARGV[2]    how many of its slots are free before it gets jobs here; 0 when it takes no direct dispatch
  ARGV[3]    number of the registration, which comes back with what is dispatched
  ARGV[4]    how long the registration is valid, ms
  ARGV[5]    how many arguments the dequeue hook has; they follow, then the args of includes/complete-and-dequeue.lua

  Returns { what complete-and-dequeue.lua returns, code, what the dequeue hook returned }. The code is
    0  not registered   1  registered   2  not registered, and the earlier registration was gone
]]
--- @include "includes/dequeue-and-claim"
local registered, freeSlots, number, ttlMs, count = ARGV[1] == '1', tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local hookArgs, args = {}, {}
for i = 6, count + 5 do hookArgs[i - 5] = ARGV[i] end
for i = count + 6, #ARGV do args[i - count - 5] = ARGV[i] end
local token, lockMs = args[2], args[3]

-- A registration that is gone was consumed or is expired: jobs may be on their way, perhaps for all slots.
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
-- Removes what killed workers have left.
redis.call('PEXPIRE', KEYS[8], 10 * ttlMs)
return { fetched, 1, answers }
