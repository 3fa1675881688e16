-- Takes jobs and does at once what is to be done about their calls. `finishAndFetch` and `withTaken` stand before this function.
-- KEYS and ARGV are those of complete-and-dequeue.lua, OWN those of `withTaken`.
-- Answers what complete-and-dequeue.lua answers, and what withTaken answers, or its error; nothing when no call was taken.
local fetched = finishAndFetch(KEYS, ARGV)
local calls = {}
for i = 2, #fetched, 4 do
  -- A job that failed while nobody ran it is not run.
  if not fetched[i + 3] then
    local callId, attempt = string.match(fetched[i], '^(.*)%-(%d+)$')
    calls[#calls + 1] = callId
    calls[#calls + 1] = attempt
  end
end
if #calls == 0 then return fetched end
-- The jobs are taken, come what may: whoever hears of an error asks again for each call.
local _, answers = pcall(withTaken, calls, OWN)
return fetched, answers
