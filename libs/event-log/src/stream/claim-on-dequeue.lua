--[[
  Claims the calls of jobs in the script that takes the jobs from their queue. Makes KEYS and ARGV for transition.lua, which
  follows behind these lines; the names of the keys are those of libs/redis/src/keys.ts. A single node only: a script on a
  cluster may not touch several partitions.

  CALLS        call id, attempt, call id, attempt ...
  ARGV[1]      channel that tells workers to stop a call
  ARGV[2..5]   lease in ms, token, text before and after the arguments in Start: see `claim` in transition.lua

  Answers as transition.lua: the time, then an answer for each call.
]]
local channel, leaseMs, token, before, after = unpack(ARGV)
local partitions, calls, partitionKeys, callKeys, named, claims = {}, {}, {}, {}, {}, {}
local partitionCount, callCount = 0, 0

for i = 1, #CALLS, 2 do
  local id, attempt = CALLS[i], CALLS[i + 1]
  local partition = string.match(id, '^%d+')
  local tag = '{p' .. partition .. '}:'
  if not partitions[partition] then
    partitionKeys[3 * partitionCount + 1] = tag .. 'log'
    partitionKeys[3 * partitionCount + 2] = tag .. 'seq'
    partitionKeys[3 * partitionCount + 3] = tag .. 'timers'
    partitionCount = partitionCount + 1
    partitions[partition] = partitionCount
  end
  if not calls[id] then
    callCount = callCount + 1
    calls[id] = callCount
    callKeys[callCount] = tag .. 'call:' .. id
    named[2 * callCount - 1] = partitions[partition]
    named[2 * callCount] = id
  end
  for _, word in ipairs({ 'take', calls[id], attempt, leaseMs, token, before, after }) do claims[#claims + 1] = word end
end

local KEYS, ARGV = partitionKeys, { channel, partitionCount, callCount, #CALLS / 2 }
for _, key in ipairs(callKeys) do KEYS[#KEYS + 1] = key end
for _, word in ipairs(named) do ARGV[#ARGV + 1] = word end
for _, word in ipairs(claims) do ARGV[#ARGV + 1] = word end
