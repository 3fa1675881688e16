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

-- Keys of which this run has looked at some calls, and the calls of the run by id: made when the first tenant has no room.
local swept, ofRun = {}, nil

-- What this run has accepted is not written yet.
local function isOpen(c, id)
  local own = ofRun[id]
  if own and own.snapshot then return own.snapshot.status ~= 'e' end
  local text = call('GET', string.sub(c.key, 1, #c.key - #c.id) .. id)
  return text and string.sub(text, 1, 1) ~= 'e'
end

-- Some of the counted calls, of which one may not be there: an accept that failed behind its count.
local function sweepOpen(c, key)
  if swept[key] then return end
  swept[key] = true
  if not ofRun then
    ofRun = {}
    for i = 1, #calls do ofRun[calls[i].id] = calls[i] end
  end
  for _, id in ipairs(call('HRANDFIELD', key, 10)) do
    if id ~= '' and not isOpen(c, id) then uncountOpen(key, id) end
  end
end

-- False when the tenant has no room: then nothing is written.
local function countOpen(c, meta, bytes, most)
  local key = openCalls(c, meta)
  local function isFull() return (call('HGET', key, '') or 0) + bytes > most end
  if isFull() then
    sweepOpen(c, key)
    if isFull() then return false end
  end
  call('HINCRBY', key, '', bytes)
  call('HSET', key, c.id, bytes)
  return true
end
