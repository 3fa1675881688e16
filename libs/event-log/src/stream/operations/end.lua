-- Operation of applyTransitions: end of a call.

operations['end'] = function(c, a)
  local by, mark, other, outcome, text = ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), ARGV[a + 3], ARGV[a + 4]
  local refusal
  if by == 'worker' then refusal = workerGuard(c, mark, other)
  elseif by == 'reconciler' then refusal = reconcilerGuard(c, mark)
  else refusal = commandGuard(c, mark, other) end
  if refusal then return refusal end
  local snapshot = c.snapshot
  local running = snapshot.status == 'r'
  if not running and (by == 'worker' or outcome == 'completed') then return wrongState(c) end
  if running and by == 'command' then return wrongState(c) end

  appendHooks(c, a + 5)
  append(c, 'call.end', by == 'worker' and mark or 0, withUpdates(snapshot, text))
  if by == 'worker' then wroteByWorker(snapshot, other) else raiseFence(snapshot) end
  stopsWaiting(c, ARGV[a + 7])
  local woken = toEnd(c)
  if by == 'command' then rememberCommand(c, other) end
  return okTool(c, woken)
end
