--[[
  Applies a list of transitions of calls. Each one is checked, then written; a rejected one does not stop the others. Included
  by transition.lua and by claim-on-dequeue.lua. The operations are in operations/, their shared functions in transitions/.
  These files are inserted into the function below: they use its KEYS, ARGV, now, seqs and calls.

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
                bytes most
      claim     attempt leaseMs token textBefore textAfter
      take      the same, but never granted again: for a job that was just dequeued
      update    fence writeSeq text index updates     progress, hook, turn      fence writeSeq text index
      renew     fence leaseMs            defer     fence delayMs
      retry     by(worker|reconciler) fence writeSeq nextAttempt delayMs counts(0|1) text
      suspend   fence writeSeq nextAttempt until(t|c|i) delayMs expiresMs text stateBytes keptBytes most
      input     version key text keptBytes most           wake      (nothing)
      end       by(worker|reconciler|command) fenceOrVersion writeSeqOrKey outcome text hooks index approvals
      cancel    version key graceMs text
      held      version key hooks index keptBytes most
      decide    version key decision(allow|deny) digest text endText hooks index approvals editedDigest
    `text` holds the members of an event that are not stamped here: JSON without braces. The text of an End has no last brace:
    the script adds the count and digest of the call's Updates before it. `updates` is their present number and digest, as in
    call/updates-digest.ts. `index` is the key of the call's update index, see read/update-index.ts. `hooks` are the texts of
    hook runs in the gateway, each followed by a line feed; without any, `index` may be 0. `editedDigest` is empty, or the
    digest of the approver's arguments in `text`: then Start names the tool only. `until` of a suspension: its time, the End of
    a child, input; `delayMs` of the last is -1 where the call ends after `expiresMs` instead. `approvals` is the key of the
    partition's calls that wait for a person; 0 where the call cannot begin or end to wait. `bytes` of an accept are those that
    the call has beside the log. The open calls of its tenant may have `most` bytes together in this partition, any with 0; with
    the states of suspended calls, `stateBytes`, and inputs, edited arguments and updates of suspended attempts, `keptBytes`, twice
    as many.

  Returns [now in ms, answer, answer ...], an answer being
    [version, seq]         applied; a third item is the tool (retry, suspend, end, decide) or 1 (renew under a cancel), a
                           fourth the words of a call that may run now because of it: id, next attempt, queue, priority, pool, tenant
    [version, seq, time, 0|1 replayed, attempt, fence, submittedAt, firstStartedAt, failures, deadline, meta,
      text of call.submitted, updates, text of call.approval_decided when the arguments were edited, else empty]
                                                       a claim that was granted; of a call that was suspended also the
                                                       words of its suspension, the texts of that event and of its input
    "REPLAY <version> <seq> <time>"  the same transition was applied before; the facts are from that time
    "FULL"           the tenant has no room for a further call
    "IDEM <callId>"  "IDEM_MISMATCH <callId>"           the key is held by another call, with the same or another request
    "CONFLICT <version>"  "FENCED <fence>"  "NOT_DUE <ms>"  "BAD_TRANSITION <status letter>"  "ENDED"  "NOT_FOUND"
    "ERROR <text>"   a fault in the data or in this script; nothing of a later transition of that call is applied
]]
local function applyTransitions(KEYS, ARGV)
  local call, match = redis.call, string.match

  -- Equal in call/timing.ts; the life of command keys is in the README.
  local DISPATCH_SAFETY_MS, DEADLINE_SLACK_MS, COMMAND_TTL_MS, JOURNAL_SECONDS = 2000, 4000, 3600000, 3600 -- inlined

  local OPTIONS_WORDS = '^(%d+) (%d+) (%d+) (%l+) %S+ %S+ (%d+) (%d+) (%S+) ?(%l*)$'

  local time = call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local nowText = string.format('%.0f', now)
  local channel, partitions, callCount, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

  --- @include "transitions/snapshot"

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
      if c.snapshot then c.openBytes = c.snapshot.openBytes end
      calls[i] = c
      at = at + 2
    end
    return seqs, calls, at
  end

  local seqs, calls, at = readAll()

  --- @include "transitions/open-calls"
  --- @include "transitions/log-entries"
  --- @include "transitions/answers"
  --- @include "transitions/changes"
  --- @include "transitions/guards"
  --- @include "transitions/waking"
  --- @include "transitions/ending"

  local operations = {}
  --- @include "operations/accept"
  --- @include "operations/claim"
  --- @include "operations/attempt"
  --- @include "operations/suspend"
  --- @include "operations/end"
  --- @include "operations/commands"

  -- Number of arguments after the operation and the call's index.
  local arity = {
    accept = 15, claim = 5, take = 5, update = 5, progress = 4, hook = 4, turn = 4, renew = 2, defer = 2, retry = 7, ['end'] = 8, cancel = 4,
    held = 6, decide = 10, suspend = 10, input = 5, wake = 0,
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
    writeOpen()
    if #values > 0 then call('MSET', unpack(values)) end
    for p, list in pairs(scores) do call('ZADD', KEYS[3 * p], unpack(list)) end
    for p, list in pairs(gone) do call('ZREM', KEYS[3 * p], unpack(list)) end
  end

  writeAll()
  return answers
end
