-- Operations of applyTransitions: commands of clients and people.

function operations.cancel(c, a)
  local version, key, graceMs, text = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), ARGV[a + 3]
  local refusal = commandGuard(c, version, key)
  if refusal then return refusal end
  local snapshot = c.snapshot
  if snapshot.status ~= 'r' or snapshot.cancelBy > 0 then return wrongState(c) end
  append(c, 'call.cancel_requested', 0, text)
  snapshot.cancelBy = now + graceMs
  setTimer(c, runningTimer(snapshot))
  rememberCommand(c, key)
  call('PUBLISH', channel, c.id)
  return ok(c)
end

function operations.decide(c, a)
  local version, key, decision, digest = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2], ARGV[a + 3]
  local refusal = commandGuard(c, version, key)
  if refusal then return refusal end
  local snapshot = c.snapshot
  if snapshot.status ~= 'w' then return wrongState(c) end
  local options, asked = match(snapshot.options, '^(.* )(%S+)$')
  if digest ~= asked then return 'CONFLICT ' .. snapshot.version end
  if now >= snapshot.deadline then return wrongState(c) end
  appendHooks(c, a + 6)
  append(c, 'call.approval_decided', 0, ARGV[a + 4])
  stopsWaiting(c, ARGV[a + 8])
  local woken
  if decision == 'allow' then
    if ARGV[a + 9] ~= '' then snapshot.options = options .. ARGV[a + 9] .. ' edited' end
    toQueue(c, 0, DISPATCH_SAFETY_MS, 0)
  else
    append(c, 'call.end', 0, withUpdates(snapshot, ARGV[a + 5]))
    raiseFence(snapshot)
    woken = toEnd(c)
  end
  rememberCommand(c, key)
  return okTool(c, woken)
end

-- Appends the hooks that ran for a held approval, and makes room for its edited arguments; the call continues to wait.
function operations.held(c, a)
  local bytes, most = tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5])
  local refusal = commandGuard(c, tonumber(ARGV[a]), tonumber(ARGV[a + 1]))
  if refusal then return refusal end
  if c.snapshot.status ~= 'w' then return wrongState(c) end
  if not countKept(c, bytes, most) then return 'FULL' end
  appendHooks(c, a + 2)
  rememberCommand(c, tonumber(ARGV[a + 1]))
  return ok(c)
end
