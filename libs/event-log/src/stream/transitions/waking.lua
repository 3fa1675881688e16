-- Part of applyTransitions: calls that wait for others.

-- Makes the call due, or notes that for a running one. Returns the words of a call that may run now.
local function wake(c)
  local snapshot = c.snapshot
  local _, kind, seq, inputSeq = suspensionOf(snapshot)
  if snapshot.status == 'r' then
    setSuspension(c, 1, kind, seq, inputSeq)
  elseif snapshot.status == 'q' and kind == 'c' and now < snapshot.notBefore then
    setSuspension(c, 0, 'w', seq, inputSeq)
    return toQueueNow(c)
  end
end

-- Wakes the parent, which is in the partition of its child; reads it under a key outside KEYS unless a transition names it.
local function wakeParent(c)
  local id = match(c.snapshot.meta, '"parentcallid":"([^"]*)"')
  if not id or match(id, '^%d+') ~= match(c.id, '^%d+') then return end
  local parent
  for i = 1, #calls do
    if calls[i].id == id then parent = calls[i] end
  end
  if not parent then
    local key = string.sub(c.key, 1, #c.key - #c.id) .. id
    local text = call('GET', key)
    parent = { key = key, part = c.part, id = id }
    if text then parent.snapshot, parent.broken = unpackSnapshot(text, id) end
    if parent.snapshot then parent.openBytes = parent.snapshot.openBytes end
    calls[#calls + 1] = parent
  end
  if parent.snapshot and not parent.broken then return wake(parent) end
end
