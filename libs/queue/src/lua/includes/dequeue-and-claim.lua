--[[
  Dequeues jobs and runs the dequeue hook for their calls in the same script. `onDequeue(jobs, args)` is the caller's, see
  DequeueHook: jobs are { call id, attempt, call id, attempt ... }.

  keys, args  those of complete-and-dequeue.lua
  hookArgs    those of onDequeue

  Returns the result of complete-and-dequeue.lua, then that of onDequeue, its error, or nothing if no job was dequeued. Jobs are
  dequeued even if the hook fails: the worker then claims each call by itself.
]]
--- @include "complete-and-dequeue"
--- @include "<dequeueHook>"
local function dequeueAndClaim(keys, hookArgs, args)
  local fetched = completeAndDequeue(keys, args)
  local jobs = {}
  for i = 2, #fetched, 4 do
    -- Skips a job with a deferred failure, which does not run.
    if not fetched[i + 3] then
      local callId, attempt = string.match(fetched[i], '^(.*)%-(%d+)$')
      jobs[#jobs + 1] = callId
      jobs[#jobs + 1] = attempt
    end
  end
  if #jobs == 0 then return fetched end
  local _, answers = pcall(onDequeue, jobs, hookArgs)
  return fetched, answers
end
