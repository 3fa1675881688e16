-- Part of applyTransitions: bytes of the calls of a tenant that have not ended, by call, and their sum under the empty name.
-- In the partition of the calls, under a key that KEYS does not have.

-- Of each call besides its texts.
local CALL_BYTES = 1024 -- inlined

local function openCalls(c, meta)
  return string.sub(c.key, 1, #c.key - #c.id - 5) .. 'open:' .. match(meta, '"tenantid":"([^"]*)"')
end

local function uncountOpen(key, id)
  local bytes = call('HGET', key, id)
  if not bytes then return end
  call('HDEL', key, id)
  if call('HINCRBY', key, '', -bytes) <= 0 then call('DEL', key) end
end

-- What this run has accepted is not written yet.
local function isOpen(c, id)
  for i = 1, #calls do
    if calls[i].id == id and calls[i].snapshot then return calls[i].snapshot.status ~= 'e' end
  end
  local text = call('GET', string.sub(c.key, 1, #c.key - #c.id) .. id)
  return text and string.sub(text, 1, 1) ~= 'e'
end

-- False when the tenant has no room. A call that ended under a release that does not count is counted still: some are looked at then.
local function countOpen(c, meta, bytes, most)
  local key = openCalls(c, meta)
  if call('HINCRBY', key, '', bytes) > most then
    for _, id in ipairs(call('HRANDFIELD', key, 10)) do
      if id ~= '' and not isOpen(c, id) then uncountOpen(key, id) end
    end
    if tonumber(call('HGET', key, '')) > most then
      if call('HINCRBY', key, '', -bytes) <= 0 then call('DEL', key) end
      return false
    end
  end
  call('HSET', key, c.id, bytes)
  return true
end
