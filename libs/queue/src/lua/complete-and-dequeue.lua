--[[
  Completes jobs of one worker and dequeues others for it. KEYS, ARGV and the return value are those of
  includes/complete-and-dequeue.lua. Allowed above maxmemory: jobs must be able to end.
]]
--- @include "includes/complete-and-dequeue"
return completeAndDequeue(KEYS, ARGV)
