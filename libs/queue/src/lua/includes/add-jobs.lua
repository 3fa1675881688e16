--[[
  Adds many jobs to one BullMQ queue. Existing ids are not changed, so adding again is always safe. Jobs always
  carry a priority. A lower number runs first, but see the aging in pop-prioritized.lua.

  Within a priority the order is start-time fair queueing (Goyal, Vin, Cheng 1996) with one flow a tenant. A job's tag is one
  more than the tag of the tenant's job before it, and at least one more than the virtual time, which is the tag of the last
  dequeued job. So a tenant with 10,000 jobs has tags far ahead, and another tenant's first job is second in the order. A
  tenant's own jobs stay in order. Equal tags run in the order of adding.

  keys[1]    prioritized  zset of waiting jobs, score = priority * 2^32 + tag + fraction, the fraction being the order
  keys[2]    fair         hash: n = jobs added, v<priority> = virtual time, <priority>:<tenant> = the tenant's last tag.
                          Deleted whenever the queue runs empty. Its loss only costs fairness to the jobs that wait then
  args[1]    key prefix of the queue, with the colon at its end
  args[2]    name of the jobs
  args[3]    options of the jobs as BullMQ stores them (JSON), read by the `stock` backend only
  args[4]    time of adding, ms
  args[5..]  for each job: id, priority, data (JSON), tenant

  Returns the number of new jobs. Does not set the marker.
]]
--- @include "priority-of"
local function addJobs(keys, args)
  local FRACTIONS = 0x40000
  local prefix, name, opts, now = args[1], args[2], args[3], args[4]
  local new, seen = {}, {}
  local fields, known = { 'n' }, {}

  -- Position of a field of `fair` in the list of fields to read.
  local function field(text)
    if not known[text] then
      fields[#fields + 1] = text
      known[text] = #fields
    end
    return known[text]
  end

  for i = 5, #args, 4 do
    local id, priority = args[i], args[i + 1]
    local key = prefix .. id
    if not seen[id] and redis.call('EXISTS', key) == 0 then
      redis.call('HSET', key, 'name', name, 'data', args[i + 2], 'opts', opts, 'timestamp', now, 'delay', '0', 'priority', priority)
      new[#new + 1] = {
        id = id,
        priority = tonumber(priority),
        virtualTime = field('v' .. priority),
        flow = field(priority .. ':' .. args[i + 3]),
      }
    end
    seen[id] = true
  end
  if #new == 0 then return 0 end

  local values = redis.call('HMGET', keys[2], unpack(fields))
  local entries, added = {}, tonumber(values[1] or 0)
  for i, job in ipairs(new) do
    local last, virtualTime = tonumber(values[job.flow] or 0), tonumber(values[job.virtualTime] or 0)
    local tag = math.min(math.max(last, virtualTime) + 1, PRIORITY_SPAN - 1)
    values[job.flow] = tag
    entries[2 * i - 1] = job.priority * PRIORITY_SPAN + tag + ((added + i) % FRACTIONS) / FRACTIONS
    entries[2 * i] = job.id
  end
  redis.call('ZADD', keys[1], unpack(entries))

  local changed, written = { 'n', added + #new }, {}
  for _, job in ipairs(new) do
    if not written[job.flow] then
      written[job.flow] = true
      changed[#changed + 1] = fields[job.flow]
      changed[#changed + 1] = values[job.flow]
    end
  end
  redis.call('HSET', keys[2], unpack(changed))
  return #new
end
