#!lua
--[[
  Adds many jobs to one BullMQ queue. A job whose id exists is left as it is, so adding again is always safe.
  Jobs always carry a priority: a class; lower runs first, but see the patience in complete-and-dequeue.lua.

  Within a class the order is start-time fair queueing (Goyal, Vin, Cheng 1996) with one flow a tenant: a job's tag is
  one more than the tag of the tenant's job before it, and at least one more than that of the job that was taken last.
  So a tenant with 10,000 jobs has tags far ahead, and another's first job stands right behind the next one; a tenant's
  own jobs stay in order. Equal tags run in the order of adding.

  KEYS[1] prioritized   zset of waiting jobs, score = class * 2^32 + tag + fraction, the fraction being the order of adding
  KEYS[2] fair          hash: n = jobs added; v<class> = tag taken last; <class>:<tenant> = tag given last. It is gone
                        whenever the queue ran empty, and losing it only costs fairness to the jobs that wait just then
  KEYS[3] marker        zset; a member wakes one worker that blocks on it. Left out where somebody else sees to that
  ARGV[1] key prefix of the queue, with the colon at its end
  ARGV[2] name of the jobs
  ARGV[3] options of the jobs as BullMQ stores them (JSON), read by the stock backend only
  ARGV[4] time of adding, ms
  ARGV[5..] for each job: id, priority, data (JSON), tenant

  Answers the number of jobs that were new.
  The marker, where there is one, is set in any case: adding a job again also heals a wake-up that got lost with a connection.
]]
local CLASS, FRACTIONS = 0x100000000, 0x40000
local prefix, name, opts, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local new, seen = {}, {}
local fields, known = { 'n' }, {}

local function field(text)
  if not known[text] then
    fields[#fields + 1] = text
    known[text] = #fields
  end
  return known[text]
end

for i = 5, #ARGV, 4 do
  local id, class = ARGV[i], ARGV[i + 1]
  local key = prefix .. id
  if not seen[id] and redis.call('EXISTS', key) == 0 then
    redis.call('HSET', key, 'name', name, 'data', ARGV[i + 2], 'opts', opts, 'timestamp', now, 'delay', '0', 'priority', class)
    new[#new + 1] = { id = id, class = tonumber(class), taken = field('v' .. class), flow = field(class .. ':' .. ARGV[i + 3]) }
  end
  seen[id] = true
end

if #new > 0 then
  local values = redis.call('HMGET', KEYS[2], unpack(fields))
  local entries, added = {}, tonumber(values[1] or 0)
  for i, job in ipairs(new) do
    local last, taken = tonumber(values[job.flow] or 0), tonumber(values[job.taken] or 0)
    local tag = math.min(math.max(last, taken) + 1, CLASS - 1)
    values[job.flow] = tag
    entries[2 * i - 1] = job.class * CLASS + tag + ((added + i) % FRACTIONS) / FRACTIONS
    entries[2 * i] = job.id
  end
  redis.call('ZADD', KEYS[1], unpack(entries))
  local changed, noted = { 'n', added + #new }, {}
  for _, job in ipairs(new) do
    if not noted[job.flow] then
      noted[job.flow] = true
      changed[#changed + 1] = fields[job.flow]
      changed[#changed + 1] = values[job.flow]
    end
  end
  redis.call('HSET', KEYS[2], unpack(changed))
end
if KEYS[3] then redis.call('ZADD', KEYS[3], 0, '0') end
return #new
