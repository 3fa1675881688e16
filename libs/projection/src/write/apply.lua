--[[
  Moves the projection of a partition on by one batch of its log, exactly once: the checkpoint must be where the writer
  thinks it is, and it moves together with everything that the batch changes. Whoever lost a race wrote nothing.

  Input:
    KEYS[1]  view of the partition (checkpoint: f format, e epoch, s seq, m mark of the entry at seq)
    KEYS[2..] what the commands below are about, each named once
    ARGV[1] format   ARGV[2] epoch   ARGV[3] seq that the batch follows
    ARGV[4] seq of its last entry    ARGV[5] mark of its last entry
    then commands:  name, index in KEYS, number of arguments, arguments ...
  Output: 1 applied; 0 the checkpoint is another one
]]
local view = redis.call('HMGET', KEYS[1], 'f', 'e', 's')
if view[1] ~= ARGV[1] or view[2] ~= ARGV[2] or view[3] ~= ARGV[3] then return 0 end
local at = 6
while at <= #ARGV do
  local count = tonumber(ARGV[at + 2])
  redis.call(ARGV[at], KEYS[tonumber(ARGV[at + 1])], unpack(ARGV, at + 3, at + 2 + count))
  at = at + 3 + count
end
redis.call('HSET', KEYS[1], 's', ARGV[4], 'm', ARGV[5])
return 1
