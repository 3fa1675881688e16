#!lua
--[[
  Adds many jobs to one BullMQ queue. A job whose id exists is left as it is, so adding again is always safe.
  Jobs always carry a priority (lower runs first); within a priority the order is the order of adding.

  KEYS[1] prioritized   zset of waiting jobs, score = priority * 2^32 + counter, as BullMQ's addJobWithPriority
  KEYS[2] pc            the counter
  KEYS[3] marker        zset; a member wakes one worker that blocks on it
  ARGV[1] key prefix of the queue, with the colon at its end
  ARGV[2] name of the jobs
  ARGV[3] options of the jobs as BullMQ stores them (JSON), read by the stock backend only
  ARGV[4] time of adding, ms
  ARGV[5..] for each job: id, priority, data (JSON)

  Answers the number of jobs that were new.
  The marker is set in any case: adding a job again also heals a wake-up that got lost with a connection.
]]
local prefix, name, opts, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local entries, new, seen = {}, 0, {}

for i = 5, #ARGV, 3 do
  local id, priority = ARGV[i], ARGV[i + 1]
  local key = prefix .. id
  if not seen[id] and redis.call('EXISTS', key) == 0 then
    redis.call('HSET', key, 'name', name, 'data', ARGV[i + 2], 'opts', opts, 'timestamp', now, 'delay', '0', 'priority', priority)
    new = new + 1
    entries[2 * new - 1] = priority
    entries[2 * new] = id
  end
  seen[id] = true
end

if new > 0 then
  local counter = redis.call('INCRBY', KEYS[2], new) - new
  for i = 1, new do
    entries[2 * i - 1] = entries[2 * i - 1] * 0x100000000 + (counter + i) % 0x100000000
  end
  redis.call('ZADD', KEYS[1], unpack(entries))
end
redis.call('ZADD', KEYS[3], 0, '0')
return new
