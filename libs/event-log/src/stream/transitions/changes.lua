-- Part of applyTransitions: changes of a snapshot that several operations share.

local function setTimer(c, score)
  c.snapshot.timer = score
  c.dirty, c.timed = true, true
end

local function runningTimer(snapshot)
  local score = math.min(snapshot.leaseUntil, snapshot.deadline + DEADLINE_SLACK_MS)
  return snapshot.cancelBy > 0 and math.min(score, snapshot.cancelBy) or score
end

local function wroteByWorker(snapshot, writeSeq)
  snapshot.writeSeq, snapshot.lastWriteTime = writeSeq, now
  snapshot.lastWriteVersion, snapshot.lastWriteSeq = snapshot.version, snapshot.lastSeq
end

local function raiseFence(snapshot) snapshot.fence = snapshot.fence + 1 end

local function toQueue(c, delayMs, timerDelayMs, notBefore)
  local snapshot = c.snapshot
  local queueMs = match(snapshot.options, '^%d+')
  local deadline = math.min(now + delayMs + queueMs, snapshot.totalDeadline)
  snapshot.status, snapshot.deadline, snapshot.leaseUntil, snapshot.notBefore, snapshot.claimToken = 'q', deadline, 0, notBefore, '-'
  setTimer(c, math.min(now + timerDelayMs, deadline))
end

-- The words of call/suspension-text.ts.
local function setSuspension(c, woken, kind, seq, inputSeq)
  local none = woken == 0 and kind == '-'
  c.snapshot.suspension = none and '' or string.format('%d %s %.0f %.0f', woken, kind, seq, inputSeq)
  c.dirty = true
end

local function suspensionOf(snapshot)
  local woken, kind, seq, inputSeq = match(snapshot.suspension, '^(%d) (%S) (%d+) (%d+)$')
  return tonumber(woken or 0), kind or '-', tonumber(seq or 0), tonumber(inputSeq or 0)
end

-- Queues the call without delay. Returns the words for its dispatcher.
local function toQueueNow(c)
  toQueue(c, 0, DISPATCH_SAFETY_MS, 0)
  local place, priority = match(c.snapshot.options, '^%d+ %d+ %d+ %l+ (%S+) (%S+)')
  local tenant = match(c.snapshot.meta, '"tenantid":"([^"]*)"')
  local pool, queue = match(place, '^([^@]*)@?(.*)$')
  return table.concat({ c.id, c.snapshot.attempt + 1, queue == '' and pool or queue, priority, pool, tenant }, ' ')
end

-- True for a tool that requested input and resumes without it after a time.
local function resumesByItself(snapshot) return snapshot.status == 'i' and snapshot.notBefore > 0 end
