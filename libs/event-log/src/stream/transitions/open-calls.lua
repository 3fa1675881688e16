-- Part of applyTransitions: bytes of the open calls of a tenant. The snapshot of a call has its own bytes, 0 if it was accepted
-- without a limit, and the part of them that is the state of its suspension and the input to it; the sum is in the partition of
-- the calls, under a key outside KEYS.

-- Bytes of each call besides its texts.
local CALL_BYTES = 1024 -- inlined

-- Sums by key: before this run, and added by calls of this run.
local open = {}

local function openCalls(c, meta)
  return string.sub(c.key, 1, #c.key - #c.id - 5) .. 'open-bytes:' .. match(meta, '"tenantid":"([^"]*)"')
end

local function hasRoom(c, meta, bytes, most)
  local key = openCalls(c, meta)
  if not open[key] then open[key] = { sum = tonumber(call('GET', key) or 0), added = 0 } end
  return open[key].sum + open[key].added + bytes <= most
end

-- Counts bytes of the call; requires `hasRoom` before, if there is a limit.
local function countOpen(c, bytes)
  local of = open[openCalls(c, c.snapshot.meta)]
  c.snapshot.openBytes = c.snapshot.openBytes + bytes
  if of then of.added = of.added + bytes end
end

-- Counts bytes that an open call stores beside the log. Returns false, and counts nothing, if its tenant has no room.
local function countKept(c, bytes, most)
  if bytes == 0 or c.snapshot.openBytes == 0 then return true end
  if bytes > 0 and most > 0 and not hasRoom(c, c.snapshot.meta, bytes, 2 * most) then return false end
  countOpen(c, bytes)
  c.dirty = true
  return true
end

-- Updates the sums by the snapshots that are written, so that they always equal those of the stored ones.
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
