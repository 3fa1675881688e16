--[[
  Adds many jobs to one queue and wakes a worker.

  KEYS[1] prioritized
  KEYS[2] fair
  KEYS[3] marker  zset; a member wakes one worker that blocks on it
  ARGV    see includes/add-jobs.lua

  Returns the number of jobs that were new. The marker is set even when none is: adding a job again also repairs a
  wake-up that was lost with a connection.
]]
--- @include "includes/add-jobs"
local added = addJobs({ KEYS[1], KEYS[2] }, ARGV)
redis.call('ZADD', KEYS[3], 0, '0')
return added
