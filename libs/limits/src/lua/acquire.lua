--[[
  Counts a call against all its limits, or against none if one of them is full. All limits of a call are keys of one tenant, and
  therefore in one slot.

  KEYS[i] zset of the calls that limit i counts: member = call id, score = when it was counted (ms)
  ARGV[1] call id    ARGV[2] `consume`, or `peek` to count nothing
  then for each limit: kind, calls, ms
    window  at most `calls` within `ms`; older members are forgotten here
    open    at most `calls` members, removed when the call ends; the key expires after `ms`
    total   at most `calls` members ever; the key is forgotten after `ms`

  Answers { now, 1 when all have room else 0, then for each limit: members besides this call, ms until there is room }.
  0 ms: unknown. A call that was counted before is not counted again: the same script may be sent twice.
]]
local id, consume = ARGV[1], ARGV[2] == 'consume'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer, room = { now, 1 }, true

for i, key in ipairs(KEYS) do
  local kind, limit, ms = ARGV[3 * i], tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2])
  local from = kind == 'window' and '(' .. string.format('%.0f', now - ms) or '-inf'
  local count = redis.call('ZCOUNT', key, from, '+inf')
  local wait = 0
  if redis.call('ZSCORE', key, id) then
    count = count - 1
  elseif count >= limit then
    room = false
    if kind == 'window' then
      -- A place is free when the oldest of the last `limit` calls leaves the window.
      local oldest = limit > 0 and redis.call('ZRANGE', key, -limit, -limit, 'WITHSCORES')[2]
      wait = oldest and oldest + ms - now or ms
    end
  end
  answer[2 * i + 1], answer[2 * i + 2] = count, wait
end

if not room then answer[2] = 0 end
if room and consume then
  for i, key in ipairs(KEYS) do
    local ms = tonumber(ARGV[3 * i + 2])
    if ARGV[3 * i] == 'window' then redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - ms)) end
    redis.call('ZADD', key, 'NX', now, id)
    redis.call('PEXPIRE', key, ms)
  end
end
return answer
