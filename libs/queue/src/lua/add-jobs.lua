--[[
  Adds many jobs to one queue and wakes a worker.

  KEYS[1] prioritized
  KEYS[2] fair
  KEYS[3] marker  zset; a member wakes one worker that blocks on it
  ARGV    see includes/add-jobs.lua

  Returns the number of new jobs. Always sets the marker, so that adding a job again also repairs a lost wake-up.
]]
--- @include "includes/add-jobs"
local added = addJobs({ KEYS[1], KEYS[2] }, ARGV)
redis.call('ZADD', KEYS[3], 0, '0')
return added
