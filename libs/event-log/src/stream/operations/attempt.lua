-- Operations of applyTransitions: events of a running attempt, and the next attempt.

-- Digest after an update; empty, that is unknown, if the worker counted an update that the log lacks.
local function counted(before, after)
  local old, new = match(before, '^%d+'), match(after, '^%d+')
  return old and new and new - old == 1 and after or ''
end

local function stream(c, a, type, updates)
  local fence, writeSeq, text = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2]
  local refusal = workerGuard(c, fence, writeSeq)
  if refusal then return refusal end
  if c.snapshot.status ~= 'r' then return wrongState(c) end
  if updates then c.snapshot.updates = counted(c.snapshot.updates, updates) end
  append(c, type, fence, text, tonumber(ARGV[a + 3]))
  wroteByWorker(c.snapshot, writeSeq)
  return ok(c)
end

function operations.update(c, a) return stream(c, a, 'call.update', ARGV[a + 4]) end
function operations.progress(c, a) return stream(c, a, 'call.progress') end
function operations.hook(c, a) return stream(c, a, 'call.hook') end
function operations.turn(c, a) return stream(c, a, 'call.turn') end

function operations.renew(c, a)
  local refusal = fenceGuard(c, tonumber(ARGV[a]))
  if refusal then return refusal end
  local snapshot = c.snapshot
  if snapshot.status ~= 'r' then return wrongState(c) end
  snapshot.leaseUntil = now + ARGV[a + 1]
  setTimer(c, runningTimer(snapshot))
  return ok(c, snapshot.cancelBy > 0 and 1 or nil)
end

function operations.defer(c, a)
  local refusal = fenceGuard(c, tonumber(ARGV[a]))
  if refusal then return refusal end
  if c.snapshot.status ~= 'q' and not resumesByItself(c.snapshot) then return wrongState(c) end
  setTimer(c, math.min(now + ARGV[a + 1], c.snapshot.deadline))
  return ok(c)
end

function operations.retry(c, a)
  local byWorker, fence, writeSeq = ARGV[a] == 'worker', tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local nextAttempt, delayMs, counts, text = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5]), ARGV[a + 6]
  local refusal
  if byWorker then refusal = workerGuard(c, fence, writeSeq) else refusal = reconcilerGuard(c, fence) end
  if refusal then return refusal end
  local snapshot = c.snapshot
  if snapshot.status ~= 'r' or snapshot.cancelBy > 0 or nextAttempt ~= snapshot.attempt + 1 then return wrongState(c) end
  local failures = snapshot.failures + counts
  if not (byWorker and counts == 0) then
    local _, _, maxAttempts, effect = match(snapshot.options, OPTIONS_WORDS)
    if effect == 'once' or failures >= tonumber(maxAttempts) then return wrongState(c) end
  end
  if not byWorker and now < snapshot.leaseUntil then return 'NOT_DUE ' .. (snapshot.leaseUntil - now) end

  append(c, 'call.retry', byWorker and fence or 0, text)
  if byWorker then wroteByWorker(snapshot, writeSeq) else raiseFence(snapshot) end
  snapshot.failures = failures
  toQueue(c, delayMs, delayMs, now + delayMs)
  return okTool(c)
end
