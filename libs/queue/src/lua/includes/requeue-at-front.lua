--[[
  Puts one active job back to the front of the queue. Called from the newest job to the oldest, so that the oldest ends up
  at the end of the list that is popped first.
]]
local function requeueAtFront(wait, active, stalled, id)
  redis.call('LREM', active, -1, id)
  redis.call('SREM', stalled, id)
  redis.call('RPUSH', wait, id)
end
