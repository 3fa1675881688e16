-- Operation of applyTransitions: submission of a call.

function operations.accept(c, a)
  local what, totalMs, approvalMs, key = ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local keyTtlMs, request, options, meta, text1, text2 = ARGV[a + 4], ARGV[a + 5], ARGV[a + 6], ARGV[a + 7], ARGV[a + 8], ARGV[a + 9]
  local snapshot = c.snapshot
  if snapshot then
    local _, hookCount = string.gsub(ARGV[a + 10], '\n', '\n')
    local version = hookCount + (what == 'queue' and 1 or 2)
    return string.format('REPLAY %.0f %.0f %.0f', version, match(snapshot.lifecycle, '^%d+') + version - 1, snapshot.submittedAt)
  end
  local holder = key > 0 and call('GET', KEYS[key])
  if holder then
    local id, sha = match(holder, '^(%S+) (%S+)$')
    return (sha == request and 'IDEM ' or 'IDEM_MISMATCH ') .. id
  end

  local most = what == 'refuse' and 0 or tonumber(ARGV[a + 14])
  local bytes = CALL_BYTES + #meta + #text1 + #text2 + ARGV[a + 13]
  if most > 0 and not hasRoom(c, meta, bytes, most) then return 'FULL' end

  local total = now + totalMs
  local deadline = math.min(now + match(options, '^%d+'), total)
  c.snapshot = {
    status = 'q', version = 0, attempt = 0, fence = 0, writeSeq = 0, failures = 0, deadline = deadline, totalDeadline = total,
    leaseUntil = 0, notBefore = 0, cancelBy = 0, timer = 0, submittedAt = now, firstStartedAt = 0, lastSeq = 0,
    lastWriteVersion = 0, lastWriteSeq = 0, lastWriteTime = 0, claimToken = '-', lifecycle = '', options = options, meta = meta,
    updates = '0', suspension = '', openBytes = 0, stateBytes = 0,
  }
  snapshot = c.snapshot
  append(c, 'call.submitted', 0, text1)
  appendHooks(c, a + 10)
  if what == 'queue' then
    setTimer(c, math.min(now + DISPATCH_SAFETY_MS, deadline))
  elseif what == 'approval' then
    append(c, 'call.approval_requested', 0, text2)
    snapshot.status, snapshot.deadline = 'w', math.min(now + approvalMs, total)
    setTimer(c, snapshot.deadline)
    call('ZADD', KEYS[tonumber(ARGV[a + 12])], now, c.id)
  else
    append(c, 'call.end', 0, withUpdates(snapshot, text2))
    raiseFence(snapshot)
    snapshot.status = 'e'
  end
  if most > 0 then countOpen(c, bytes) end
  if key > 0 then call('SET', KEYS[key], c.id .. ' ' .. request, 'PX', keyTtlMs) end
  return ok(c, nil, snapshot.status == 'e' and wakeParent(c) or nil)
end
