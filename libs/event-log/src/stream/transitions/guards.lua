-- Part of applyTransitions: permission of a writer to make a transition, and the record of applied commands.

-- Guards; each returns a rejection, or nothing.
local function workerGuard(c, fence, writeSeq)
  local snapshot = c.snapshot
  if fence == snapshot.fence and writeSeq <= snapshot.writeSeq then return replayed(c) end
  if snapshot.status == 'e' then return 'ENDED' end
  if fence ~= snapshot.fence then return 'FENCED ' .. snapshot.fence end
end

local function fenceGuard(c, fence)
  if c.snapshot.status == 'e' then return 'ENDED' end
  if fence ~= c.snapshot.fence then return 'FENCED ' .. c.snapshot.fence end
end

local function reconcilerGuard(c, fence)
  local refusal = fenceGuard(c, fence)
  if refusal then return refusal end
  local timer = c.snapshot.timer
  if now < timer then return 'NOT_DUE ' .. (timer - now) end
end

local function commandGuard(c, version, key)
  local before = call('GET', KEYS[key])
  if before then return 'REPLAY ' .. before end
  if c.snapshot.status == 'e' then return 'ENDED' end
  if version ~= c.snapshot.version then return 'CONFLICT ' .. c.snapshot.version end
end

local function rememberCommand(c, key)
  call('SET', KEYS[key], string.format('%.0f %.0f %s', c.snapshot.version, c.snapshot.lastSeq, nowText), 'PX', COMMAND_TTL_MS)
end
