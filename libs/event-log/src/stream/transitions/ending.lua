-- Part of applyTransitions: effects of every End.

-- SHA-256 of an empty text.
local NO_UPDATES_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

-- Completes the text of an End with the updates of all attempts; without them if their digest is unknown.
local function withUpdates(snapshot, text)
  local count, sha256 = match(snapshot.updates, '^(%d+) ?(%x*)$')
  if not count then return text .. '}' end
  if sha256 == '' then sha256 = NO_UPDATES_SHA256 end
  return text .. ',"updates":{"count":' .. count .. ',"sha256":"' .. sha256 .. '"}}'
end

-- Removes the call from the set of waiting approvals; `approvals` is the index of its key.
local function stopsWaiting(c, approvals)
  if c.snapshot.status == 'w' then call('ZREM', KEYS[tonumber(approvals)], c.id) end
end

-- Sets the expiry of a sub-agent's journal of model answers, in which the parent reads the usage of a failed run. Its key is in
-- the partition of the call, outside KEYS.
local function expireJournal(c)
  if not match(c.snapshot.options, '^%d+ %d+ %d+ %l+ agent[ @]') then return end
  call('EXPIRE', string.sub(c.key, 1, #c.key - #c.id - 5) .. 'agent:' .. c.id, JOURNAL_SECONDS)
end

local function toEnd(c)
  local snapshot = c.snapshot
  snapshot.status, snapshot.leaseUntil, snapshot.openBytes, snapshot.stateBytes = 'e', 0, 0, 0
  setTimer(c, 0)
  expireJournal(c)
  return wakeParent(c)
end
