-- Part of applyTransitions: the packed snapshot of a call.

-- Of a packed snapshot: the status letter, 17 numbers, 4 strings each behind its length. The updates follow without a
-- length.
local SNAPSHOT_FORMAT = '<c1I4I2I4I4I2I6I6I6I6I6I6I6I6I6I4I6I6Bc0I2c0I2c0I2c0'

-- The snapshot as a table with the names of `CallState` in call/call-snapshot.ts; nil and the reason when it cannot be read.
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
    updates = string.sub(text, rest), suspension = '',
  }
  local cut = string.find(snapshot.updates, ';', 1, true)
  if cut then
    snapshot.suspension = string.sub(snapshot.updates, cut + 1)
    snapshot.updates = string.sub(snapshot.updates, 1, cut - 1)
  end
  return snapshot
end

local function packed(s)
  local updates = s.suspension == '' and s.updates or (s.updates .. ';' .. s.suspension)
  return struct.pack(SNAPSHOT_FORMAT, s.status, s.version, s.attempt, s.fence, s.writeSeq, s.failures, s.deadline, s.totalDeadline,
    s.leaseUntil, s.notBefore, s.cancelBy, s.timer, s.submittedAt, s.firstStartedAt, s.lastSeq, s.lastWriteVersion, s.lastWriteSeq,
    s.lastWriteTime, #s.claimToken, s.claimToken, #s.lifecycle, s.lifecycle, #s.options, s.options, #s.meta, s.meta) .. updates
end
