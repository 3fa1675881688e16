-- Part of applyTransitions: return values of operations.

local function ok(c, note, woken) return { c.snapshot.version, c.snapshot.lastSeq, note, woken } end
local function okTool(c, woken) return ok(c, match(c.snapshot.meta, '"tool":"([^"]*)"'), woken) end
local function wrongState(c) return 'BAD_TRANSITION ' .. c.snapshot.status end
local function replayed(c)
  local snapshot = c.snapshot
  return string.format('REPLAY %.0f %.0f %.0f', snapshot.lastWriteVersion, snapshot.lastWriteSeq, snapshot.lastWriteTime)
end
