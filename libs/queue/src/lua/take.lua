-- Takes jobs and does at once what is to be done about their calls. `finishAndFetch` and `withTaken` stand before these lines.
-- KEYS are those of finish-and-fetch.lua; ARGV[1] is how many arguments `withTaken` has; they follow, then those of finish-and-fetch.lua.
-- Answers { what finish-and-fetch.lua answers, what withTaken answers or the text of its error }.
local count = tonumber(ARGV[1])
local own, rest = {}, {}
for i = 2, count + 1 do own[i - 1] = ARGV[i] end
for i = count + 2, #ARGV do rest[i - count - 1] = ARGV[i] end

local fetched = finishAndFetch(KEYS, rest)
local calls = {}
for i = 2, #fetched, 4 do
  -- A job that failed while nobody ran it is not run.
  if not fetched[i + 3] then
    local callId, attempt = string.match(fetched[i], '^(.*)%-(%d+)$')
    calls[#calls + 1] = callId
    calls[#calls + 1] = attempt
  end
end
if #calls == 0 then return { fetched } end
-- The jobs are taken, come what may: whoever hears of an error asks again for each call.
local _, answers = pcall(withTaken, calls, own)
return { fetched, answers }
