--[[
  Ends jobs of one worker and gives it others, with what is done about their calls. A worker for whom nothing is left is
  noted as idle: what is added next is handed to it (direct-dispatch.lua). `take` stands before these lines.

  KEYS[1..7] those of complete-and-dequeue.lua
  KEYS[8]    idle   hash of notes by lock token, see direct-dispatch.lua
  ARGV[1]    1 when the worker takes itself for noted, else 0
  ARGV[2]    how many of its slots are free before it gets jobs here; 0 when none is to be handed to it
  ARGV[3]    number of the note, which comes back with what is handed
  ARGV[4]    how long the note holds, ms
  ARGV[5]    how many arguments are for what is done about calls; they follow, then those of complete-and-dequeue.lua

  Answers { what complete-and-dequeue.lua answers, 0 no note | 1 noted | 2 the note was gone, what was said about the calls }.
]]
local noted, room, number, forMs, count = ARGV[1] == '1', tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local own, rest = {}, {}
for i = 6, count + 5 do own[i - 5] = ARGV[i] end
for i = count + 6, #ARGV do rest[i - count - 5] = ARGV[i] end
local token, lockMs = rest[2], rest[3]

-- A note that is gone was used, or nobody heard this worker for a while: jobs may be on their way, perhaps for all its slots.
local gone = redis.call('HDEL', KEYS[8], token) == 0 and noted
if gone then
  room, rest[4] = 0, '0'
end

local fetched, answers = take(KEYS, own, rest)
room = room - (#fetched - 1) / 4
if fetched[1] == 0 or room <= 0 then return { fetched, gone and 2 or 0, answers } end

local time = redis.call('TIME')
local holdsUntil = time[1] * 1000 + math.floor(time[2] / 1000) + forMs
redis.call('HSET', KEYS[8], token, string.format('%.0f %d %s %s ', holdsUntil, room, number, lockMs) .. cjson.encode(own))
-- For what killed workers have left.
redis.call('PEXPIRE', KEYS[8], 10 * forMs)
return { fetched, 1, answers }
