-- Part of applyTransitions: writes events to the log of a partition, and reads them.

-- Appends one event, and advances version and sequence numbers of the snapshot. `index` is the number of the key of the call's
-- update index, which gets the event. Without it the event joins the lifecycle list of the snapshot.
local function append(c, type, fence, text, index)
  local snapshot, p = c.snapshot, c.part
  local seq = seqs[p] + 1
  local seqText = string.format('%.0f', seq)
  local version = snapshot.version + 1
  local stamp = c.id .. ' ' .. type .. ' ' .. version .. ' ' .. nowText .. ' ' .. snapshot.attempt .. ' ' .. fence
  call('XADD', KEYS[3 * p - 2], seqText .. '-0', 'h', stamp, 'm', snapshot.meta, 'e', text)
  seqs[p] = seq
  snapshot.version, snapshot.lastSeq = version, seq
  if index then
    c.index, c.indexed = index, (c.indexed or '') .. struct.pack('<I3', seq)
  else
    if snapshot.openBytes > 0 then snapshot.openBytes = snapshot.openBytes + #text end
    snapshot.lifecycle = snapshot.lifecycle == '' and seqText or (snapshot.lifecycle .. ',' .. seqText)
  end
  c.dirty = true
end

-- Appends the hook runs of the gateway: the arguments `hooks` and `index`, which begin at `a`.
local function appendHooks(c, a)
  local hooks = ARGV[a]
  if hooks == '' then return end
  local index = tonumber(ARGV[a + 1])
  for text in string.gmatch(hooks, '[^\n]+') do append(c, 'call.hook', 0, text, index) end
end

-- Text of the call's lifecycle event at a place of the log: the last field. nil if it is missing.
local function textAt(c, seq)
  local log, id = KEYS[3 * c.part - 2], (seq or '0') .. '-0'
  local entry = call('XRANGE', log, id, id)[1]
  local fields = entry and entry[2]
  if fields and string.sub(fields[2], 1, #c.id) == c.id then return fields[#fields] end
  -- After a trim of the stream the entries of open calls are in a hash outside KEYS, in the form of read/partition-log.ts.
  local kept = not fields and call('HGET', string.sub(log, 1, -4) .. 'kept', seq or '0')
  if kept and string.sub(kept, 1, #c.id) == c.id then return match(kept, '^[^\n]*\n[^\n]*\n(.*)$') end
end
