-- Part of applyTransitions: bytes of the calls of a tenant that have not ended. The snapshot of a call has its own bytes,
-- 0 where no limit was set when it was accepted, and which of them are the state of its suspension; their sum is in the partition of the calls, under a key that KEYS does not have.

-- Bytes of each call besides its texts.
local CALL_BYTES = 1024 -- inlined

-- By key: the sum before this run, and what calls of this run have added.
local open = {}

local function openCalls(c, meta)
  return string.sub(c.key, 1, #c.key - #c.id - 5) .. 'open-bytes:' .. match(meta, '"tenantid":"([^"]*)"')
end

local function hasRoom(c, meta, bytes, most)
  local key = openCalls(c, meta)
  if not open[key] then open[key] = { sum = tonumber(call('GET', key) or 0), added = 0 } end
  return open[key].sum + open[key].added + bytes <= most
end

-- After `hasRoom`, where there is a limit.
local function countOpen(c, bytes)
  local of = open[openCalls(c, c.snapshot.meta)]
  c.snapshot.openBytes = c.snapshot.openBytes + bytes
  if of then of.added = of.added + bytes end
end

-- Adds up the snapshots that are written, so that the sum is always that of the stored ones.
local function writeOpen()
  local changes = {}
  for i = 1, #calls do
    local c = calls[i]
    local change = c.dirty and c.snapshot.openBytes - (c.openBytes or 0) or 0
    if change ~= 0 then
      local key = openCalls(c, c.snapshot.meta)
      changes[key] = (changes[key] or 0) + change
    end
  end
  for key, change in pairs(changes) do
    if change ~= 0 then call('INCRBY', key, change) end
  end
end
