-- Part of applyTransitions: the packed snapshot of a call.

-- Format of a packed snapshot: the status letter, 17 numbers, 4 strings each after its length. The updates follow without a
-- length.
local SNAPSHOT_FORMAT = '<c1I4I2I4I4I2I6I6I6I6I6I6I6I6I6I4I6I6Bc0I2c0I2c0I2c0'

-- The snapshot as a table with the names of `CallState` in call/call-snapshot.ts; nil and the reason if it cannot be read.
local function unpackSnapshot(text, id)
  local fine, status, version, attempt, fence, writeSeq, failures, deadline, totalDeadline, leaseUntil, notBefore, cancelBy,
    timer, submittedAt, firstStartedAt, lastSeq, lastWriteVersion, lastWriteSeq, lastWriteTime, claimToken, lifecycle,
    options, meta, rest = pcall(struct.unpack, SNAPSHOT_FORMAT, text)
  if not fine then return nil, 'the snapshot of ' .. id .. ' cannot be read' end
  local snapshot = {
    status = status, version = version, attempt = attempt, fence = fence, writeSeq = writeSeq, failures = failures,
    deadline = deadline, totalDeadline = totalDeadline, leaseUntil = leaseUntil, notBefore = notBefore,
    cancelBy = cancelBy, timer = timer, submittedAt = submittedAt, firstStartedAt = firstStartedAt, lastSeq = lastSeq,
    lastWriteVersion = lastWriteVersion, lastWriteSeq = lastWriteSeq, lastWriteTime = lastWriteTime,
    claimToken = claimToken, lifecycle = lifecycle, options = options, meta = meta,
  }
  local updates, suspension, openBytes, stateBytes = match(text, '^([^;]*);?([^;]*);?(%d*) ?(%d*)$', rest)
  if not updates then return nil, 'the snapshot of ' .. id .. ' cannot be read' end
  snapshot.updates, snapshot.suspension = updates, suspension
  snapshot.openBytes, snapshot.stateBytes = tonumber(openBytes) or 0, tonumber(stateBytes) or 0
  return snapshot
end

local function packed(s)
  local rest = s.updates
  if s.stateBytes > 0 then rest = rest .. ';' .. s.suspension .. string.format(';%.0f %.0f', s.openBytes, s.stateBytes)
  elseif s.openBytes > 0 then rest = rest .. ';' .. s.suspension .. string.format(';%.0f', s.openBytes)
  elseif s.suspension ~= '' then rest = rest .. ';' .. s.suspension end
  return struct.pack(SNAPSHOT_FORMAT, s.status, s.version, s.attempt, s.fence, s.writeSeq, s.failures, s.deadline, s.totalDeadline,
    s.leaseUntil, s.notBefore, s.cancelBy, s.timer, s.submittedAt, s.firstStartedAt, s.lastSeq, s.lastWriteVersion, s.lastWriteSeq,
    s.lastWriteTime, #s.claimToken, s.claimToken, #s.lifecycle, s.lifecycle, #s.options, s.options, #s.meta, s.meta) .. rest
end
