-- Operations of applyTransitions: start of an attempt by a worker.

local function claimed(c, replayed, submitted, edited)
  local snapshot = c.snapshot
  local facts = {
    snapshot.lastWriteVersion, snapshot.lastWriteSeq, snapshot.lastWriteTime, replayed, snapshot.attempt, snapshot.fence,
    snapshot.submittedAt, snapshot.firstStartedAt, snapshot.failures, snapshot.deadline, snapshot.meta, submitted, snapshot.updates, edited,
  }
  local _, kind, seq, inputSeq = suspensionOf(snapshot)
  if kind ~= '-' then
    facts[15], facts[16] = snapshot.suspension, textAt(c, seq) or ''
    facts[17] = inputSeq > 0 and textAt(c, inputSeq) or ''
  end
  return facts
end

local function claim(c, a, mayRepeat)
  local attempt, leaseMs, token, before, after = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]
  local snapshot = c.snapshot
  local again = mayRepeat and snapshot.status == 'r' and attempt == snapshot.attempt and token == snapshot.claimToken
  if not again then
    if snapshot.status == 'e' then return 'ENDED' end
    if snapshot.status ~= 'q' and not resumesByItself(snapshot) then return wrongState(c) end
    if attempt ~= snapshot.attempt + 1 then return 'CONFLICT ' .. snapshot.version end
    if now >= snapshot.deadline then return wrongState(c) end
    if now < snapshot.notBefore then return 'NOT_DUE ' .. (snapshot.notBefore - now) end
  end
  local first = match(snapshot.lifecycle, '^%d+')
  local submitted = textAt(c, first)
  if not submitted then return 'ERROR the log has no call.submitted of ' .. c.id .. ' at ' .. first end
  local _, runMs, _, _, offset, bytes, _, isEdited = match(snapshot.options, OPTIONS_WORDS)
  -- The decision is the third event, after the submission and the request.
  local edited = isEdited == '' and '' or textAt(c, match(snapshot.lifecycle, '^%d+,%d+,(%d+)'))
  if not edited then return 'ERROR the log has no call.approval_decided of ' .. c.id end
  if again then return claimed(c, 1, submitted, edited) end

  snapshot.attempt, snapshot.writeSeq, snapshot.notBefore, snapshot.claimToken = attempt, 0, 0, token
  raiseFence(snapshot)
  snapshot.status, snapshot.deadline, snapshot.leaseUntil = 'r', math.min(now + runMs, snapshot.totalDeadline), now + leaseMs
  if snapshot.firstStartedAt == 0 then snapshot.firstStartedAt = now end
  if snapshot.suspension ~= '' then
    local _, kind, seq, inputSeq = suspensionOf(snapshot)
    setSuspension(c, 0, kind, seq, inputSeq)
  end
  local repeated = edited == '' and string.sub(submitted, offset + 1, offset + bytes) or match(snapshot.meta, '"tool":"[^"]*"')
  append(c, 'call.start', snapshot.fence, before .. repeated .. after)
  wroteByWorker(snapshot, 0)
  setTimer(c, runningTimer(snapshot))
  return claimed(c, 0, submitted, edited)
end

function operations.claim(c, a) return claim(c, a, true) end
function operations.take(c, a) return claim(c, a, false) end
