--[[
  Applies a list of transitions of calls, each by itself: it checks, then writes, and a refused one leaves the others
  alone. Two flavours are made of this body by the first line that the loader puts before it: `accept` (refused above
  maxmemory) and `progress` (allowed above it, so that what runs can always finish).

  Reads and writes are gathered: one MGET before, one XADD an event, one MSET and one ZADD/ZREM a partition after. Heads
  are one packed string (see call/call-head.ts, which reads and writes the same bytes); nothing here parses JSON, and
  numbers are made into text only where they must be: that costs more than all the rest.
  The same decisions stand in call/call.decider.ts as a pure function; a property test holds the two together.

  Input:
    KEYS[1..3P]        for each of P partitions: its log, its seq, its timers
    KEYS[3P+1..3P+C]   the heads of C calls, each named once
    KEYS[3P+C+1..]     idempotency and command keys, update indexes, pending approvals; transitions name them by index, 0 means none

    ARGV[1]  channel that tells workers to stop a call
    ARGV[2]  P    ARGV[3]  C    ARGV[4]  number of transitions
    then for each call:  its partition's index (1..P), its id
    then for each transition:  operation, index of the call (1..C), and
      accept    then(queue|approval|refuse) totalMs approvalMs key keyTtlMs requestSha256 terms meta text1 text2 hooks index approvals
      claim     attempt leaseMs token textBefore textAfter
      take      the same, but never granted again: for a job that was just taken from its queue
      update    fence wseq text index updates     progress  fence wseq text index     hook      fence wseq text index
      renew     fence leaseMs            defer     fence delayMs
      retry     by(worker|reconciler) fence wseq nextAttempt delayMs counts(0|1) text
      end       by(worker|reconciler|command) fenceOrVersion wseqOrKey outcome text hooks index approvals
      cancel    version key graceMs text
      decide    version key decision(allow|deny) digest text endText hooks index approvals
    `text` is what an event holds beside what is stamped here: JSON members without braces. Of an End the last brace is
    left out: what is said here of the updates of the call comes before it. `updates` is how many there are by now, and
    their digest, as in call/updates-digest.ts. `index` is the key of the call's update index, see read/update-index.ts.
    `hooks` are the texts of hook runs in the gateway, each followed by a line feed; without any, `index` may be 0.
    `approvals` is the key of the partition's calls that wait for a person; 0 where the call cannot begin or end to wait.

  Output: [now in ms, answer, answer ...], an answer being
    [version, seq]         applied; a third item is the tool (retry, end, decide) or 1 (renew under a cancel)
    [version, seq, time, 0|1 replayed, attempt, fence, submittedAt, firstStartedAt, failures, deadline, meta,
      text of call.submitted, updates]                 a claim that was granted
    "REPLAY <version> <seq> <time>"  this very transition was applied before; the facts are those of then
    "IDEM <callId>"  "IDEM_MISMATCH <callId>"           the key is held by another call, with the same or another request
    "CONFLICT <version>"  "FENCED <fence>"  "NOT_DUE <ms>"  "BAD_TRANSITION <status letter>"  "ENDED"  "NOT_FOUND"
    "ERROR <text>"   a fault in the data or in this script; nothing of a later transition of that call is applied
]]
local call, match = redis.call, string.match

-- Must be the same as in call/evolve.ts, and the life of command keys as in the README.
local DISPATCH_SAFETY_MS, DEADLINE_SLACK_MS, COMMAND_TTL_MS = 2000, 4000, 3600000 -- inlined

-- Positions in an unpacked head. Behind each string's length stands the string itself. `inlined`: the loader writes the
-- numbers where the names stand, since each name that a function takes from here costs time in every run.
local ST, V, ATT, FENCE, WSEQ, FAILS, DEADLINE, TOTAL, LEASE, NOT_BEFORE = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 -- inlined
local CANCEL_BY, TIMER, SUBMITTED, FIRST_START, LAST_SEQ, W_VER, W_SEQ, W_TIME = 11, 12, 13, 14, 15, 16, 17, 18 -- inlined
-- The last one is what follows behind all the others; a release that does not know it leaves it out.
local TOKEN, LIFECYCLE, TERMS, META, UPDATES = 19, 20, 21, 22, 23 -- inlined
-- Of an empty text.
local NO_UPDATES_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
local NUMBERS = '<c1I4I2I4I4I2I6I6I6I6I6I6I6I6I6I4I6I6'
local HEAD = NUMBERS .. 'Bc0I2c0I2c0I2c0'
local TERMS_WORDS = '^(%d+) (%d+) (%d+) (%l+) %S+ %S+ (%d+) (%d+) (%S+)$'

local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local nowText = string.format('%.0f', now)
local channel, partitions, callCount, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local function unpackHead(text, id)
  local fine, head = pcall(function() return { struct.unpack(HEAD, text) } end)
  if fine then
    head[UPDATES] = string.sub(text, head[UPDATES])
    return head
  end
  return nil, 'the head of ' .. id .. ' cannot be read'
end

local function readAll()
  local wanted = {}
  for p = 1, partitions do wanted[p] = KEYS[3 * p - 1] end
  for i = 1, callCount do wanted[partitions + i] = KEYS[3 * partitions + i] end
  local found = call('MGET', unpack(wanted))
  local seqs, calls, at = {}, {}, 5
  for p = 1, partitions do seqs[p] = tonumber(found[p] or 0) end
  for i = 1, callCount do
    local text = found[partitions + i]
    local c = { key = wanted[partitions + i], part = tonumber(ARGV[at]), id = ARGV[at + 1] }
    if text then c.head, c.broken = unpackHead(text, c.id) end
    calls[i] = c
    at = at + 2
  end
  return seqs, calls, at
end

local seqs, calls, at = readAll()

-- Appends one event with the head as it stands, and moves version and sequence numbers on. An event with an `index` (the
-- number of the key of the call's update index) is entered there, any other one in the lifecycle list of the head.
local function append(c, type, fence, text, index)
  local h, p = c.head, c.part
  local seq = seqs[p] + 1
  local seqText = string.format('%.0f', seq)
  local version = h[V] + 1
  local stamp = c.id .. ' ' .. type .. ' ' .. version .. ' ' .. nowText .. ' ' .. h[ATT] .. ' ' .. fence
  call('XADD', KEYS[3 * p - 2], seqText .. '-0', 'h', stamp, 'm', h[META], 'e', text)
  seqs[p] = seq
  h[V], h[LAST_SEQ] = version, seq
  if index then
    c.index, c.indexed = index, (c.indexed or '') .. struct.pack('<I3', seq)
  else
    h[LIFECYCLE] = h[LIFECYCLE] == '' and seqText or (h[LIFECYCLE] .. ',' .. seqText)
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

local function packed(h)
  local token, lifecycle, terms, meta = h[TOKEN], h[LIFECYCLE], h[TERMS], h[META]
  return struct.pack(HEAD, h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8], h[9], h[10], h[11], h[12], h[13], h[14], h[15], h[16], h[17], h[18],
    #token, token, #lifecycle, lifecycle, #terms, terms, #meta, meta) .. h[UPDATES]
end

local function setTimer(c, score)
  c.head[TIMER] = score
  c.dirty, c.timed = true, true
end

local function ok(c, note) return { c.head[V], c.head[LAST_SEQ], note } end
local function okTool(c) return ok(c, match(c.head[META], '"tool":"([^"]*)"')) end
local function wrongState(c) return 'BAD_TRANSITION ' .. c.head[ST] end
local function replayed(c)
  local h = c.head
  return string.format('REPLAY %.0f %.0f %.0f', h[W_VER], h[W_SEQ], h[W_TIME])
end

local function runningTimer(h)
  local score = math.min(h[LEASE], h[DEADLINE] + DEADLINE_SLACK_MS)
  return h[CANCEL_BY] > 0 and math.min(score, h[CANCEL_BY]) or score
end

local function wroteByWorker(h, wseq) h[WSEQ], h[W_VER], h[W_SEQ], h[W_TIME] = wseq, h[V], h[LAST_SEQ], now end

local function raiseFence(h) h[FENCE] = h[FENCE] + 1 end

-- Guards: each answers a refusal, or nothing.
local function workerGuard(c, fence, wseq)
  local h = c.head
  if fence == h[FENCE] and wseq <= h[WSEQ] then return replayed(c) end
  if h[ST] == 'e' then return 'ENDED' end
  if fence ~= h[FENCE] then return 'FENCED ' .. h[FENCE] end
end

local function fenceGuard(c, fence)
  if c.head[ST] == 'e' then return 'ENDED' end
  if fence ~= c.head[FENCE] then return 'FENCED ' .. c.head[FENCE] end
end

local function reconcilerGuard(c, fence)
  local refusal = fenceGuard(c, fence)
  if refusal then return refusal end
  local timer = c.head[TIMER]
  if now < timer then return 'NOT_DUE ' .. (timer - now) end
end

local function commandGuard(c, version, key)
  local before = call('GET', KEYS[key])
  if before then return 'REPLAY ' .. before end
  if c.head[ST] == 'e' then return 'ENDED' end
  if version ~= c.head[V] then return 'CONFLICT ' .. c.head[V] end
end

local function rememberCommand(c, key)
  call('SET', KEYS[key], string.format('%.0f %.0f %s', c.head[V], c.head[LAST_SEQ], nowText), 'PX', COMMAND_TTL_MS)
end

local function toQueue(c, delayMs, timerDelayMs, notBefore)
  local h = c.head
  local queueMs = match(h[TERMS], '^%d+')
  local deadline = math.min(now + delayMs + queueMs, h[TOTAL])
  h[ST], h[DEADLINE], h[LEASE], h[NOT_BEFORE], h[TOKEN] = 'q', deadline, 0, notBefore, '-'
  setTimer(c, math.min(now + timerDelayMs, deadline))
end

-- Nothing is known any more once the worker counted an update that the log does not have.
local function counted(before, after)
  local old, new = match(before, '^%d+'), match(after, '^%d+')
  return old and new and new - old == 1 and after or ''
end

-- Behind the text of an End: the updates of all attempts; nothing where an older release wrote in between, or one is lost.
local function withUpdates(h, text)
  local updates = h[UPDATES]
  local count, sha256 = match(updates, '^(%d+) ?(%x*)$')
  if not count then return text .. '}' end
  if sha256 == '' then sha256 = NO_UPDATES_SHA256 end
  return text .. ',"updates":{"count":' .. count .. ',"sha256":"' .. sha256 .. '"}}'
end

-- `approvals` is the argument of that name.
local function stopsWaiting(c, approvals)
  if c.head[ST] == 'w' then call('ZREM', KEYS[tonumber(approvals)], c.id) end
end

local function toEnd(c)
  c.head[ST], c.head[LEASE] = 'e', 0
  setTimer(c, 0)
end

local operations = {}

function operations.accept(c, a)
  local what, totalMs, approvalMs, key = ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local keyTtlMs, request, terms, meta, text1, text2 = ARGV[a + 4], ARGV[a + 5], ARGV[a + 6], ARGV[a + 7], ARGV[a + 8], ARGV[a + 9]
  local h = c.head
  if h then
    local _, hookCount = string.gsub(ARGV[a + 10], '\n', '\n')
    local version = hookCount + (what == 'queue' and 1 or 2)
    return string.format('REPLAY %.0f %.0f %.0f', version, match(h[LIFECYCLE], '^%d+') + version - 1, h[SUBMITTED])
  end
  local holder = key > 0 and call('GET', KEYS[key])
  if holder then
    local id, sha = match(holder, '^(%S+) (%S+)$')
    return (sha == request and 'IDEM ' or 'IDEM_MISMATCH ') .. id
  end

  local total = now + totalMs
  local deadline = math.min(now + match(terms, '^%d+'), total)
  c.head = { 'q', 0, 0, 0, 0, 0, deadline, total, 0, 0, 0, 0, now, 0, 0, 0, 0, 0, '-', '', terms, meta, '0' }
  h = c.head
  append(c, 'call.submitted', 0, text1)
  appendHooks(c, a + 10)
  if what == 'queue' then
    setTimer(c, math.min(now + DISPATCH_SAFETY_MS, deadline))
  elseif what == 'approval' then
    append(c, 'call.approval_requested', 0, text2)
    h[ST], h[DEADLINE] = 'w', math.min(now + approvalMs, total)
    setTimer(c, h[DEADLINE])
    call('ZADD', KEYS[tonumber(ARGV[a + 12])], now, c.id)
  else
    append(c, 'call.end', 0, withUpdates(h, text2))
    raiseFence(h)
    h[ST] = 'e'
  end
  if key > 0 then call('SET', KEYS[key], c.id .. ' ' .. request, 'PX', keyTtlMs) end
  return ok(c)
end

local function claimed(h, replayed, submitted)
  return { h[W_VER], h[W_SEQ], h[W_TIME], replayed, h[ATT], h[FENCE], h[SUBMITTED], h[FIRST_START], h[FAILS], h[DEADLINE], h[META], submitted, h[UPDATES] }
end

local function claim(c, a, mayRepeat)
  local attempt, leaseMs, token, before, after = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]
  local h = c.head
  local again = mayRepeat and h[ST] == 'r' and attempt == h[ATT] and token == h[TOKEN]
  if not again then
    if h[ST] == 'e' then return 'ENDED' end
    if h[ST] ~= 'q' then return wrongState(c) end
    if attempt ~= h[ATT] + 1 then return 'CONFLICT ' .. h[V] end
    if now >= h[DEADLINE] then return wrongState(c) end
    if now < h[NOT_BEFORE] then return 'NOT_DUE ' .. (h[NOT_BEFORE] - now) end
  end
  local first = match(h[LIFECYCLE], '^%d+') .. '-0'
  local entry = call('XRANGE', KEYS[3 * c.part - 2], first, first)[1]
  local fields = entry and entry[2]
  if not fields or string.sub(fields[2], 1, #c.id) ~= c.id then return 'ERROR the log has no call.submitted of ' .. c.id .. ' at ' .. first end
  -- The last field is the event's text, also in logs of format 1.
  local submitted = fields[#fields]
  if again then return claimed(h, 1, submitted) end

  local _, runMs, _, _, offset, bytes = match(h[TERMS], TERMS_WORDS)
  h[ATT], h[WSEQ], h[NOT_BEFORE], h[TOKEN] = attempt, 0, 0, token
  raiseFence(h)
  h[ST], h[DEADLINE], h[LEASE] = 'r', math.min(now + runMs, h[TOTAL]), now + leaseMs
  if h[FIRST_START] == 0 then h[FIRST_START] = now end
  if attempt == 1 then h[UPDATES] = '0' end
  append(c, 'call.start', h[FENCE], before .. string.sub(submitted, offset + 1, offset + bytes) .. after)
  wroteByWorker(h, 0)
  setTimer(c, runningTimer(h))
  return claimed(h, 0, submitted)
end

function operations.claim(c, a) return claim(c, a, true) end
function operations.take(c, a) return claim(c, a, false) end

local function stream(c, a, type, updates)
  local fence, wseq, text = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2]
  local refusal = workerGuard(c, fence, wseq)
  if refusal then return refusal end
  if c.head[ST] ~= 'r' then return wrongState(c) end
  if updates then c.head[UPDATES] = counted(c.head[UPDATES], updates) end
  append(c, type, fence, text, tonumber(ARGV[a + 3]))
  wroteByWorker(c.head, wseq)
  return ok(c)
end

function operations.update(c, a) return stream(c, a, 'call.update', ARGV[a + 4]) end
function operations.progress(c, a) return stream(c, a, 'call.progress') end
function operations.hook(c, a) return stream(c, a, 'call.hook') end

function operations.renew(c, a)
  local refusal = fenceGuard(c, tonumber(ARGV[a]))
  if refusal then return refusal end
  local h = c.head
  if h[ST] ~= 'r' then return wrongState(c) end
  h[LEASE] = now + ARGV[a + 1]
  setTimer(c, runningTimer(h))
  return ok(c, h[CANCEL_BY] > 0 and 1 or nil)
end

function operations.defer(c, a)
  local refusal = fenceGuard(c, tonumber(ARGV[a]))
  if refusal then return refusal end
  if c.head[ST] ~= 'q' then return wrongState(c) end
  setTimer(c, math.min(now + ARGV[a + 1], c.head[DEADLINE]))
  return ok(c)
end

function operations.retry(c, a)
  local byWorker, fence, wseq = ARGV[a] == 'worker', tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local nextAttempt, delayMs, counts, text = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5]), ARGV[a + 6]
  local refusal
  if byWorker then refusal = workerGuard(c, fence, wseq) else refusal = reconcilerGuard(c, fence) end
  if refusal then return refusal end
  local h = c.head
  if h[ST] ~= 'r' or h[CANCEL_BY] > 0 or nextAttempt ~= h[ATT] + 1 then return wrongState(c) end
  local failures = h[FAILS] + counts
  if not (byWorker and counts == 0) then
    local _, _, maxAttempts, effect = match(h[TERMS], TERMS_WORDS)
    if effect == 'once' or failures >= tonumber(maxAttempts) then return wrongState(c) end
  end
  if not byWorker and now < h[LEASE] then return 'NOT_DUE ' .. (h[LEASE] - now) end

  append(c, 'call.retry', byWorker and fence or 0, text)
  if byWorker then wroteByWorker(h, wseq) else raiseFence(h) end
  h[FAILS] = failures
  toQueue(c, delayMs, delayMs, now + delayMs)
  return okTool(c)
end

operations['end'] = function(c, a)
  local by, mark, other, outcome, text = ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), ARGV[a + 3], ARGV[a + 4]
  local refusal
  if by == 'worker' then refusal = workerGuard(c, mark, other)
  elseif by == 'reconciler' then refusal = reconcilerGuard(c, mark)
  else refusal = commandGuard(c, mark, other) end
  if refusal then return refusal end
  local h = c.head
  local running = h[ST] == 'r'
  if not running and (by == 'worker' or outcome == 'completed') then return wrongState(c) end
  if running and by == 'command' then return wrongState(c) end

  appendHooks(c, a + 5)
  append(c, 'call.end', by == 'worker' and mark or 0, withUpdates(h, text))
  if by == 'worker' then wroteByWorker(h, other) else raiseFence(h) end
  stopsWaiting(c, ARGV[a + 7])
  toEnd(c)
  if by == 'command' then rememberCommand(c, other) end
  return okTool(c)
end

function operations.cancel(c, a)
  local version, key, graceMs, text = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), ARGV[a + 3]
  local refusal = commandGuard(c, version, key)
  if refusal then return refusal end
  local h = c.head
  if h[ST] ~= 'r' or h[CANCEL_BY] > 0 then return wrongState(c) end
  append(c, 'call.cancel_requested', 0, text)
  h[CANCEL_BY] = now + graceMs
  setTimer(c, runningTimer(h))
  rememberCommand(c, key)
  call('PUBLISH', channel, c.id)
  return ok(c)
end

function operations.decide(c, a)
  local version, key, decision, digest = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2], ARGV[a + 3]
  local refusal = commandGuard(c, version, key)
  if refusal then return refusal end
  local h = c.head
  if h[ST] ~= 'w' then return wrongState(c) end
  if digest ~= match(h[TERMS], '(%S+)$') then return 'CONFLICT ' .. h[V] end
  if now >= h[DEADLINE] then return wrongState(c) end
  appendHooks(c, a + 6)
  append(c, 'call.approval_decided', 0, ARGV[a + 4])
  stopsWaiting(c, ARGV[a + 8])
  if decision == 'allow' then
    toQueue(c, 0, DISPATCH_SAFETY_MS, 0)
  else
    append(c, 'call.end', 0, withUpdates(h, ARGV[a + 5]))
    raiseFence(h)
    toEnd(c)
  end
  rememberCommand(c, key)
  return okTool(c)
end

-- How many arguments follow the operation and the call's index.
local arity = { accept = 13, claim = 5, take = 5, update = 5, progress = 4, hook = 4, renew = 2, defer = 2, retry = 7, ['end'] = 8, cancel = 4, decide = 9 }

local function apply(operation, c, a)
  if c.broken then return 'ERROR ' .. c.broken end
  if not c.head and operation ~= 'accept' then return 'NOT_FOUND' end
  local fine, answer = pcall(operations[operation], c, a)
  if fine then return answer end
  c.broken = type(answer) == 'table' and answer.err or tostring(answer)
  return 'ERROR ' .. c.broken
end

local answers = { nowText }
for i = 1, count do
  local operation = ARGV[at]
  answers[i + 1] = apply(operation, calls[tonumber(ARGV[at + 1])], at + 2)
  at = at + 2 + arity[operation]
end

local function writeAll()
  local values, scores, gone = {}, {}, {}
  local dirty = {}
  for i = 1, callCount do
    local c = calls[i]
    if c.dirty then
      values[#values + 1] = c.key
      values[#values + 1] = packed(c.head)
      dirty[c.part] = true
    end
    if c.indexed then call('APPEND', KEYS[c.index], c.indexed) end
    if c.timed then
      local score = c.head[TIMER]
      local of = score == 0 and gone or scores
      local list = of[c.part] or {}
      of[c.part] = list
      if score ~= 0 then list[#list + 1] = score end
      list[#list + 1] = c.id
    end
  end
  for p in pairs(dirty) do
    values[#values + 1] = KEYS[3 * p - 1]
    values[#values + 1] = seqs[p]
  end
  if #values > 0 then call('MSET', unpack(values)) end
  for p, list in pairs(scores) do call('ZADD', KEYS[3 * p], unpack(list)) end
  for p, list in pairs(gone) do call('ZREM', KEYS[3 * p], unpack(list)) end
end

writeAll()
return answers
