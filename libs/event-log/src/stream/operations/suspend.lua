-- Operations of applyTransitions: suspension until a time, the End of a child or input, and its end.

local function toInput(c, delayMs, expiresMs)
  local snapshot = c.snapshot
  snapshot.status, snapshot.leaseUntil, snapshot.claimToken = 'i', 0, '-'
  if delayMs < 0 then
    snapshot.notBefore, snapshot.deadline = 0, math.min(now + expiresMs, snapshot.totalDeadline)
    setTimer(c, snapshot.deadline)
  else
    snapshot.notBefore = now + delayMs
    snapshot.deadline = math.min(now + delayMs + match(snapshot.options, '^%d+'), snapshot.totalDeadline)
    setTimer(c, math.min(snapshot.notBefore, snapshot.deadline))
  end
end

function operations.suspend(c, a)
  local fence, writeSeq, nextAttempt = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local kind, delayMs, expiresMs, text = ARGV[a + 3], tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5]), ARGV[a + 6]
  local stateBytes, keptBytes, most = tonumber(ARGV[a + 7]), tonumber(ARGV[a + 8]), tonumber(ARGV[a + 9])
  local refusal = workerGuard(c, fence, writeSeq)
  if refusal then return refusal end
  local snapshot = c.snapshot
  if snapshot.status ~= 'r' or snapshot.cancelBy > 0 or nextAttempt ~= snapshot.attempt + 1 then return wrongState(c) end
  local more = snapshot.openBytes > 0 and stateBytes - snapshot.stateBytes or 0
  if not countKept(c, more + keptBytes, most) then return 'FULL' end
  local isDue = kind == 'c' and suspensionOf(snapshot) == 1

  append(c, kind == 'i' and 'call.input_requested' or 'call.retry', fence, text)
  if more ~= 0 then snapshot.stateBytes = stateBytes end
  wroteByWorker(snapshot, writeSeq)
  setSuspension(c, 0, isDue and 'w' or kind, snapshot.lastSeq, 0)
  if isDue then return okTool(c, toQueueNow(c)) end
  if kind == 'i' then toInput(c, delayMs, expiresMs) else toQueue(c, delayMs, delayMs, now + delayMs) end
  return okTool(c)
end

function operations.input(c, a)
  local version, key, text = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2]
  local bytes, most = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4])
  local refusal = commandGuard(c, version, key)
  if refusal then return refusal end
  local snapshot = c.snapshot
  if snapshot.status ~= 'i' or now >= snapshot.deadline then return wrongState(c) end
  if not countKept(c, bytes, most) then return 'FULL' end
  -- The next suspension deletes both.
  if snapshot.openBytes > 0 then snapshot.stateBytes = snapshot.stateBytes + bytes end
  append(c, 'call.input_given', 0, text)
  local _, _, seq = suspensionOf(snapshot)
  setSuspension(c, 0, 'g', seq, snapshot.lastSeq)
  local queued = toQueueNow(c)
  rememberCommand(c, key)
  return okTool(c, queued)
end

function operations.wake(c)
  if c.snapshot.status == 'e' then return 'ENDED' end
  local woken = wake(c)
  return okTool(c, woken)
end
