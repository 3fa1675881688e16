--[[
  Applies a list of transitions of calls. Each one is checked, then written; a rejected one does not stop the others.
  Included by transition.lua and by claim-on-dequeue.lua.

  Reads and writes are gathered: one MGET before; one XADD an event; one MSET, one APPEND a call with Updates, and one
  ZADD/ZREM a partition after. The snapshot of a call is one packed string (call/call-snapshot.ts reads and writes the
  same bytes). Nothing here parses JSON, and few numbers become text: that would cost more than everything else.
  specification/decide.ts is the specification of these decisions; a property test compares the two.

  KEYS and ARGV are parameters of the function, in the form that a script gets them:
    KEYS[1..3P]        for each of P partitions: its log, its seq, its timers
    KEYS[3P+1..3P+C]   the snapshots of C calls, each named once
    KEYS[3P+C+1..]     idempotency and command keys, update indexes, waiting approvals; named by index, 0 means none

    ARGV[1]  channel that tells workers to stop a call
    ARGV[2]  P    ARGV[3]  C    ARGV[4]  number of transitions
    then for each call:  its partition's index (1..P), its id
    then for each transition:  operation, index of the call (1..C), and
      accept    then(queue|approval|refuse) totalMs approvalMs key keyTtlMs requestSha256 options meta text1 text2 hooks index approvals
      claim     attempt leaseMs token textBefore textAfter
      take      the same, but never granted again: for a job that was just taken from its queue
      update    fence writeSeq text index updates     progress, hook, turn      fence writeSeq text index
      renew     fence leaseMs            defer     fence delayMs
      retry     by(worker|reconciler) fence writeSeq nextAttempt delayMs counts(0|1) text
      suspend   fence writeSeq nextAttempt until(t|c|i) delayMs expiresMs text
      input     version key text         wake      (nothing)
      end       by(worker|reconciler|command) fenceOrVersion writeSeqOrKey outcome text hooks index approvals
      cancel    version key graceMs text
      held      version key hooks index
      decide    version key decision(allow|deny) digest text endText hooks index approvals editedDigest
    `text` holds the members of an event that are not stamped here: JSON without braces. The text of an End has no last
    brace: the script adds the count and digest of the call's Updates before it. `updates` is how many there are by now,
    and their digest, as in call/updates-digest.ts. `index` is the key of the call's update index, see read/update-index.ts.
    `hooks` are the texts of hook runs in the gateway, each followed by a line feed; without any, `index` may be 0.
    `editedDigest` is empty, or the digest of the arguments that the approver gave, which `text` holds: then Start names the
    tool only. `until` of a suspension: its time, the End of a child, input; `delayMs` of the last is -1 where the call ends
    after `expiresMs` instead. `approvals` is the key of the partition's calls that wait for a person; 0 where the call cannot begin or end to wait.

  Returns [now in ms, answer, answer ...], an answer being
    [version, seq]         applied; a third item is the tool (retry, suspend, end, decide) or 1 (renew under a cancel), a
                           fourth the words of a call that may run now because of it: id, next attempt, queue, priority, pool, tenant
    [version, seq, time, 0|1 replayed, attempt, fence, submittedAt, firstStartedAt, failures, deadline, meta,
      text of call.submitted, updates, text of call.approval_decided when the arguments were edited, else empty]
                                                       a claim that was granted; of a call that was suspended also the
                                                       words of its suspension, the texts of that event and of its input
    "REPLAY <version> <seq> <time>"  this very transition was applied before; the facts are those of then
    "IDEM <callId>"  "IDEM_MISMATCH <callId>"           the key is held by another call, with the same or another request
    "CONFLICT <version>"  "FENCED <fence>"  "NOT_DUE <ms>"  "BAD_TRANSITION <status letter>"  "ENDED"  "NOT_FOUND"
    "ERROR <text>"   a fault in the data or in this script; nothing of a later transition of that call is applied
]]
local function applyTransitions(KEYS, ARGV)
  local call, match = redis.call, string.match

  -- Equal in call/timing.ts; the life of command keys is in the README.
  local DISPATCH_SAFETY_MS, DEADLINE_SLACK_MS, COMMAND_TTL_MS, JOURNAL_SECONDS = 2000, 4000, 3600000, 3600 -- inlined

  -- SHA-256 of an empty text.
  local NO_UPDATES_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  -- Of a packed snapshot: the status letter, 17 numbers, 4 strings each behind its length. The updates follow without a
  -- length; snapshots of a release that does not know them end before.
  local SNAPSHOT_FORMAT = '<c1I4I2I4I4I2I6I6I6I6I6I6I6I6I6I4I6I6Bc0I2c0I2c0I2c0'
  local OPTIONS_WORDS = '^(%d+) (%d+) (%d+) (%l+) %S+ %S+ (%d+) (%d+) (%S+) ?(%l*)$'

  local time = call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local nowText = string.format('%.0f', now)
  local channel, partitions, callCount, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

  -- The snapshot as a table with the names of `CallState` in call/call-snapshot.ts; nil and the reason when it cannot be read.
  local function unpackSnapshot(text, id)
    local fine, status, version, attempt, fence, writeSeq, failures, deadline, totalDeadline, leaseUntil, notBefore, cancelBy,
      timer, submittedAt, firstStartedAt, lastSeq, lastWriteVersion, lastWriteSeq, lastWriteTime, claimToken, lifecycle,
      options, meta, rest = pcall(struct.unpack, SNAPSHOT_FORMAT, text)
    if not fine then return nil, 'the snapshot of ' .. id .. ' cannot be read' end
    local snapshot = {
      status = status, version = version, attempt = attempt, fence = fence, writeSeq = writeSeq, failures = failures,
      deadline = deadline, totalDeadline = totalDeadline, leaseUntil = leaseUntil, notBefore = notBefore,
      cancelBy = cancelBy, timer = timer, submittedAt = submittedAt, firstStartedAt = firstStartedAt, lastSeq = lastSeq,
      lastWriteVersion = lastWriteVersion, lastWriteSeq = lastWriteSeq, lastWriteTime = lastWriteTime,
      claimToken = claimToken, lifecycle = lifecycle, options = options, meta = meta,
      updates = string.sub(text, rest), suspension = '',
    }
    local cut = string.find(snapshot.updates, ';', 1, true)
    if cut then
      snapshot.suspension = string.sub(snapshot.updates, cut + 1)
      snapshot.updates = string.sub(snapshot.updates, 1, cut - 1)
    end
    return snapshot
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
      if text then c.snapshot, c.broken = unpackSnapshot(text, c.id) end
      calls[i] = c
      at = at + 2
    end
    return seqs, calls, at
  end

  local seqs, calls, at = readAll()

  -- Appends one event, and moves version and sequence numbers of the snapshot on. `index` is the number of the key of the
  -- call's update index: the event is entered there. Without it the event joins the lifecycle list of the snapshot.
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

  local function packed(s)
    local updates = s.suspension == '' and s.updates or (s.updates .. ';' .. s.suspension)
    return struct.pack(SNAPSHOT_FORMAT, s.status, s.version, s.attempt, s.fence, s.writeSeq, s.failures, s.deadline, s.totalDeadline,
      s.leaseUntil, s.notBefore, s.cancelBy, s.timer, s.submittedAt, s.firstStartedAt, s.lastSeq, s.lastWriteVersion, s.lastWriteSeq,
      s.lastWriteTime, #s.claimToken, s.claimToken, #s.lifecycle, s.lifecycle, #s.options, s.options, #s.meta, s.meta) .. updates
  end

  local function setTimer(c, score)
    c.snapshot.timer = score
    c.dirty, c.timed = true, true
  end

  local function ok(c, note, woken) return { c.snapshot.version, c.snapshot.lastSeq, note, woken } end
  local function okTool(c, woken) return ok(c, match(c.snapshot.meta, '"tool":"([^"]*)"'), woken) end
  local function wrongState(c) return 'BAD_TRANSITION ' .. c.snapshot.status end
  local function replayed(c)
    local snapshot = c.snapshot
    return string.format('REPLAY %.0f %.0f %.0f', snapshot.lastWriteVersion, snapshot.lastWriteSeq, snapshot.lastWriteTime)
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

  -- Guards: each returns a rejection, or nothing.
  local function workerGuard(c, fence, writeSeq)
    local snapshot = c.snapshot
    if fence == snapshot.fence and writeSeq <= snapshot.writeSeq then return replayed(c) end
    if snapshot.status == 'e' then return 'ENDED' end
    if fence ~= snapshot.fence then return 'FENCED ' .. snapshot.fence end
  end

  local function fenceGuard(c, fence)
    if c.snapshot.status == 'e' then return 'ENDED' end
    if fence ~= c.snapshot.fence then return 'FENCED ' .. c.snapshot.fence end
  end

  local function reconcilerGuard(c, fence)
    local refusal = fenceGuard(c, fence)
    if refusal then return refusal end
    local timer = c.snapshot.timer
    if now < timer then return 'NOT_DUE ' .. (timer - now) end
  end

  local function commandGuard(c, version, key)
    local before = call('GET', KEYS[key])
    if before then return 'REPLAY ' .. before end
    if c.snapshot.status == 'e' then return 'ENDED' end
    if version ~= c.snapshot.version then return 'CONFLICT ' .. c.snapshot.version end
  end

  local function rememberCommand(c, key)
    call('SET', KEYS[key], string.format('%.0f %.0f %s', c.snapshot.version, c.snapshot.lastSeq, nowText), 'PX', COMMAND_TTL_MS)
  end

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

  -- Into the queue at once. Returns what its dispatcher needs.
  local function toQueueNow(c)
    toQueue(c, 0, DISPATCH_SAFETY_MS, 0)
    local place, priority = match(c.snapshot.options, '^%d+ %d+ %d+ %l+ (%S+) (%S+)')
    local tenant = match(c.snapshot.meta, '"tenantid":"([^"]*)"')
    local pool, queue = match(place, '^([^@]*)@?(.*)$')
    return table.concat({ c.id, c.snapshot.attempt + 1, queue == '' and pool or queue, priority, pool, tenant }, ' ')
  end

  -- Returns the words of the call when it may run now.
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

  -- The parent is in the partition of its child; it is read here when no transition names it, under a key that KEYS does not have.
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
      calls[#calls + 1] = parent
    end
    if parent.snapshot and not parent.broken then return wake(parent) end
  end

  -- Empty when the worker counted an update that the log does not have: from then on the digest is unknown.
  local function counted(before, after)
    local old, new = match(before, '^%d+'), match(after, '^%d+')
    return old and new and new - old == 1 and after or ''
  end

  -- Completes the text of an End with the updates of all attempts; without them where their digest is unknown. A call that
  -- never started has none, also when a release accepted it that does not count.
  local function withUpdates(snapshot, text)
    local updates = snapshot.attempt == 0 and '0' or snapshot.updates
    local count, sha256 = match(updates, '^(%d+) ?(%x*)$')
    if not count then return text .. '}' end
    if sha256 == '' then sha256 = NO_UPDATES_SHA256 end
    return text .. ',"updates":{"count":' .. count .. ',"sha256":"' .. sha256 .. '"}}'
  end

  -- `approvals` is the argument of that name.
  local function stopsWaiting(c, approvals)
    if c.snapshot.status == 'w' then call('ZREM', KEYS[tonumber(approvals)], c.id) end
  end

  -- The journal of a sub-agent has answers of its model as they came. It is in the partition of its call, under a key that
  -- KEYS does not have; the call above reads in it for a while what a failed run used.
  local function expireJournal(c)
    if not match(c.snapshot.options, '^%d+ %d+ %d+ %l+ agent[ @]') then return end
    call('EXPIRE', string.sub(c.key, 1, #c.key - #c.id - 5) .. 'agent:' .. c.id, JOURNAL_SECONDS)
  end

  local function toEnd(c)
    c.snapshot.status, c.snapshot.leaseUntil = 'e', 0
    setTimer(c, 0)
    expireJournal(c)
    return wakeParent(c)
  end

  local operations = {}

  function operations.accept(c, a)
    local what, totalMs, approvalMs, key = ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
    local keyTtlMs, request, options, meta, text1, text2 = ARGV[a + 4], ARGV[a + 5], ARGV[a + 6], ARGV[a + 7], ARGV[a + 8], ARGV[a + 9]
    local snapshot = c.snapshot
    if snapshot then
      local _, hookCount = string.gsub(ARGV[a + 10], '\n', '\n')
      local version = hookCount + (what == 'queue' and 1 or 2)
      return string.format('REPLAY %.0f %.0f %.0f', version, match(snapshot.lifecycle, '^%d+') + version - 1, snapshot.submittedAt)
    end
    local holder = key > 0 and call('GET', KEYS[key])
    if holder then
      local id, sha = match(holder, '^(%S+) (%S+)$')
      return (sha == request and 'IDEM ' or 'IDEM_MISMATCH ') .. id
    end

    local total = now + totalMs
    local deadline = math.min(now + match(options, '^%d+'), total)
    c.snapshot = {
      status = 'q', version = 0, attempt = 0, fence = 0, writeSeq = 0, failures = 0, deadline = deadline, totalDeadline = total,
      leaseUntil = 0, notBefore = 0, cancelBy = 0, timer = 0, submittedAt = now, firstStartedAt = 0, lastSeq = 0,
      lastWriteVersion = 0, lastWriteSeq = 0, lastWriteTime = 0, claimToken = '-', lifecycle = '', options = options, meta = meta,
      updates = '0', suspension = '',
    }
    snapshot = c.snapshot
    append(c, 'call.submitted', 0, text1)
    appendHooks(c, a + 10)
    if what == 'queue' then
      setTimer(c, math.min(now + DISPATCH_SAFETY_MS, deadline))
    elseif what == 'approval' then
      append(c, 'call.approval_requested', 0, text2)
      snapshot.status, snapshot.deadline = 'w', math.min(now + approvalMs, total)
      setTimer(c, snapshot.deadline)
      call('ZADD', KEYS[tonumber(ARGV[a + 12])], now, c.id)
    else
      append(c, 'call.end', 0, withUpdates(snapshot, text2))
      raiseFence(snapshot)
      snapshot.status = 'e'
    end
    if key > 0 then call('SET', KEYS[key], c.id .. ' ' .. request, 'PX', keyTtlMs) end
    return ok(c, nil, snapshot.status == 'e' and wakeParent(c) or nil)
  end

  -- The last field of the call's lifecycle event at a place of the log; nil when it is not there. It is the event's text,
  -- also in logs of format 1.
  local function textAt(c, seq)
    local log, id = KEYS[3 * c.part - 2], (seq or '0') .. '-0'
    local entry = call('XRANGE', log, id, id)[1]
    local fields = entry and entry[2]
    if fields and string.sub(fields[2], 1, #c.id) == c.id then return fields[#fields] end
    -- The stream was trimmed: what a call needs that has not ended is kept, as read/partition-log.ts writes it, under a key that KEYS does not have.
    local kept = not fields and call('HGET', string.sub(log, 1, -4) .. 'kept', seq or '0')
    if kept and string.sub(kept, 1, #c.id) == c.id then return match(kept, '^[^\n]*\n[^\n]*\n(.*)$') end
  end

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

  -- A tool that asked for input and goes on without it when its time has come.
  local function resumesByItself(snapshot) return snapshot.status == 'i' and snapshot.notBefore > 0 end

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
    -- The decision follows the submission and the question.
    local edited = isEdited == '' and '' or textAt(c, match(snapshot.lifecycle, '^%d+,%d+,(%d+)'))
    if not edited then return 'ERROR the log has no call.approval_decided of ' .. c.id end
    if again then return claimed(c, 1, submitted, edited) end

    snapshot.attempt, snapshot.writeSeq, snapshot.notBefore, snapshot.claimToken = attempt, 0, 0, token
    raiseFence(snapshot)
    snapshot.status, snapshot.deadline, snapshot.leaseUntil = 'r', math.min(now + runMs, snapshot.totalDeadline), now + leaseMs
    if snapshot.firstStartedAt == 0 then snapshot.firstStartedAt = now end
    if attempt == 1 then snapshot.updates = '0' end
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
    local refusal = workerGuard(c, fence, writeSeq)
    if refusal then return refusal end
    local snapshot = c.snapshot
    if snapshot.status ~= 'r' or snapshot.cancelBy > 0 or nextAttempt ~= snapshot.attempt + 1 then return wrongState(c) end
    local isDue = kind == 'c' and suspensionOf(snapshot) == 1

    append(c, kind == 'i' and 'call.input_requested' or 'call.retry', fence, text)
    wroteByWorker(snapshot, writeSeq)
    setSuspension(c, 0, isDue and 'w' or kind, snapshot.lastSeq, 0)
    if isDue then return okTool(c, toQueueNow(c)) end
    if kind == 'i' then toInput(c, delayMs, expiresMs) else toQueue(c, delayMs, delayMs, now + delayMs) end
    return okTool(c)
  end

  function operations.input(c, a)
    local version, key, text = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), ARGV[a + 2]
    local refusal = commandGuard(c, version, key)
    if refusal then return refusal end
    local snapshot = c.snapshot
    if snapshot.status ~= 'i' or now >= snapshot.deadline then return wrongState(c) end
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

  -- The hooks that ran for an approval that is held: the call goes on waiting.
  function operations.held(c, a)
    local refusal = commandGuard(c, tonumber(ARGV[a]), tonumber(ARGV[a + 1]))
    if refusal then return refusal end
    if c.snapshot.status ~= 'w' then return wrongState(c) end
    appendHooks(c, a + 2)
    rememberCommand(c, tonumber(ARGV[a + 1]))
    return ok(c)
  end

  -- How many arguments follow the operation and the call's index.
  local arity = {
    accept = 13, claim = 5, take = 5, update = 5, progress = 4, hook = 4, turn = 4, renew = 2, defer = 2, retry = 7, ['end'] = 8, cancel = 4,
    held = 4, decide = 10, suspend = 7, input = 3, wake = 0,
  }

  local function apply(operation, c, a)
    if c.broken then return 'ERROR ' .. c.broken end
    if not c.snapshot and operation ~= 'accept' then return 'NOT_FOUND' end
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
    for i = 1, #calls do
      local c = calls[i]
      if c.dirty then
        values[#values + 1] = c.key
        values[#values + 1] = packed(c.snapshot)
        dirty[c.part] = true
      end
      if c.indexed then call('APPEND', KEYS[c.index], c.indexed) end
      if c.timed then
        local score = c.snapshot.timer
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
end
