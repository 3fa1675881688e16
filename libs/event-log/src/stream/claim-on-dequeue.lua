--[[
  Defines the function that a queue calls in its dequeue script: it claims the calls of the dequeued jobs. For a single node
  only, as a script on a cluster may not touch several partitions. The names of the keys equal those of libs/redis/src/keys.ts.

  jobs      call id, attempt, call id, attempt ...
  args[1]   channel that tells workers to stop a call
  args[2..5]  lease in ms, token, text before and after the arguments in Start: see `take` in apply-transitions.lua

  Returns what applyTransitions returns: the time, then an answer for each job.
]]
--- @include "apply-transitions"
local function onDequeue(jobs, args)
  local channel, leaseMs, token, before, after = unpack(args)
  local partitions, calls, partitionKeys, callKeys, named, claims = {}, {}, {}, {}, {}, {}
  local partitionCount, callCount = 0, 0

  for i = 1, #jobs, 2 do
    local id, attempt = jobs[i], jobs[i + 1]
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
    for _, value in ipairs({ 'take', calls[id], attempt, leaseMs, token, before, after }) do claims[#claims + 1] = value end
  end

  local transitionKeys, transitionArgs = partitionKeys, { channel, partitionCount, callCount, #jobs / 2 }
  for _, key in ipairs(callKeys) do transitionKeys[#transitionKeys + 1] = key end
  for _, value in ipairs(named) do transitionArgs[#transitionArgs + 1] = value end
  for _, value in ipairs(claims) do transitionArgs[#transitionArgs + 1] = value end
  return applyTransitions(transitionKeys, transitionArgs)
end
