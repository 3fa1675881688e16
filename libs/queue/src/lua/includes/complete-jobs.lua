--[[
  Removes active jobs whose handlers have returned.

  active, stalled  list and set of BullMQ
  prefix           key prefix of the queue, with the colon at its end
  token            lock token of the worker; a job whose lock has another token is left alone
  ids              of the jobs
]]
local function completeJobs(active, stalled, prefix, token, ids)
  local lockKeys = {}
  for i, id in ipairs(ids) do lockKeys[i] = prefix .. id .. ':lock' end
  local deleted, completed = {}, {}
  for i, owner in ipairs(redis.call('MGET', unpack(lockKeys))) do
    if owner == token then
      redis.call('LREM', active, -1, ids[i])
      completed[#completed + 1] = ids[i]
      deleted[#deleted + 1] = lockKeys[i]
      deleted[#deleted + 1] = prefix .. ids[i]
    end
  end
  if #completed > 0 then
    redis.call('DEL', unpack(deleted))
    redis.call('SREM', stalled, unpack(completed))
  end
end
