import { LuaScript } from '#redis';
import type { DurableScript } from '../platform/durable-writes.service.js';

/**
 * Atomic changes of a batch. All keys of a run are of one partition. `now`: Redis time in milliseconds. Only `create` fails
 * above maxmemory, so that accepted batches can always finish.
 */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Bytes of a tenant's open batches. */
const TENANT_BATCHES = `
local function forgetOpen(open, id)
  local bytes = redis.call('HGET', open, id)
  if not bytes then return end
  redis.call('HDEL', open, id)
  if redis.call('HINCRBY', open, '', -bytes) <= 0 then redis.call('DEL', open) end
end
`;

/** Moves the session's waiting messages to the batch, in order. */
const TAKE_STEERING = `
local function takeSteering(batch, steering)
  local messages = redis.call('LRANGE', steering, 0, -1)
  if #messages == 0 then return false end
  local before = redis.call('HGET', batch, 'steering')
  local text = table.concat(messages, ',')
  redis.call('HSET', batch, 'steering', before and (string.sub(before, 1, -2) .. ',' .. text .. ']') or ('[' .. text .. ']'))
  redis.call('DEL', steering)
  return true
end
`;

/**
 * Creates a batch, once for each idempotency key. A batch that ended under an earlier release, which did not count, may still
 * be counted: some are checked when there is no room. KEYS 1 batch, 2 batches, 3 idempotency, 4 bytes of the tenant's batches.
 * ARGV 1 id, 2 doc, 3 calls, 4 lease ms, 5 hash of the request or '', 6 TTL of the key in s, 7 bytes of the batch, 8 most bytes
 * of all. Returns '' for a new batch, `full` without room, else `<hash> <id>` of the request that had the key.
 */
export const createScript: DurableScript = {
  repeatable: true,
  script: new LuaScript(`#!lua
${NOW}${TENANT_BATCHES}
local before = ARGV[5] ~= '' and redis.call('GET', KEYS[3])
if before then return before end
if redis.call('EXISTS', KEYS[1]) == 1 then return '' end
local function isFull() return (redis.call('HGET', KEYS[4], '') or 0) + ARGV[7] > tonumber(ARGV[8]) end
if isFull() then
  for _, id in ipairs(redis.call('HRANDFIELD', KEYS[4], 10)) do
    if id ~= '' and not redis.call('ZSCORE', KEYS[2], id) then forgetOpen(KEYS[4], id) end
  end
  if isFull() then return 'full' end
end
if ARGV[5] ~= '' then redis.call('SET', KEYS[3], ARGV[5] .. ' ' .. ARGV[1], 'EX', ARGV[6]) end
if redis.call('HSETNX', KEYS[1], 'doc', ARGV[2]) == 1 then
  redis.call('HSET', KEYS[4], ARGV[1], ARGV[7])
  redis.call('HINCRBY', KEYS[4], '', ARGV[7])
  redis.call('HSET', KEYS[1], 'calls', ARGV[3], 'at', string.format('%.0f', now))
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[4]), ARGV[1])
end
return ''`),
};

/**
 * Stores an approval of a call of a batch; the first one counts. KEYS 1 batch. ARGV 1 field, 2 approval as JSON. Returns 1 for
 * the first approval.
 */
export const holdScript: DurableScript = {
  repeatable: true,
  script: new LuaScript(`#!lua flags=allow-oom
return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`),
};

/**
 * Renews the leases of the caller's batches, and assigns it some without an owner. KEYS batches of some partitions. ARGV 1
 * lease ms, 2 most orphans of each partition, 3… index in KEYS and id of each batch to renew. Returns the milliseconds until the
 * next lease expires, -1 for none, then the assigned ids. With a limit of 0 it only renews.
 */
export const sweepScript = new LuaScript(`#!lua flags=allow-oom
${NOW}
local untilMs = string.format('%.0f', now + ARGV[1])
for i = 3, #ARGV, 2 do redis.call('ZADD', KEYS[tonumber(ARGV[i])], 'XX', untilMs, ARGV[i + 1]) end
local found = {-1}
if ARGV[2] == '0' then return found end
for _, key in ipairs(KEYS) do
  local first = tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or -1)
  local leftMs = math.ceil(math.max(0, first - now))
  if first >= 0 and (found[1] < 0 or leftMs < found[1]) then found[1] = leftMs end
  if first >= 0 and leftMs == 0 then for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[2])) do
    redis.call('ZADD', key, 'XX', untilMs, id)
    found[#found + 1] = id
  end end
end
return found`);

/**
 * Stops a batch that has not ended; the first reason counts, but `cancelled` replaces any other. KEYS 1 batch. ARGV 1 stop as
 * JSON. Returns 1 if this reason now counts.
 */
export const stopScript: DurableScript = {
  repeatable: true,
  script: new LuaScript(`#!lua flags=allow-oom
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
local before = redis.call('HGET', KEYS[1], 'stop')
if before and (cjson.decode(before)['reason'] == 'cancelled' or cjson.decode(ARGV[1])['reason'] ~= 'cancelled') then return 0 end
redis.call('HSET', KEYS[1], 'stop', ARGV[1])
return 1`),
};

/**
 * Stops the batch between two groups if a person has sent messages, which are part of its result. KEYS 1 batch, 2 steering.
 * ARGV 1 stop as JSON. Returns 1 if there were messages.
 */
export const steerScript = new LuaScript(`#!lua flags=allow-oom
${TAKE_STEERING}
if redis.call('HEXISTS', KEYS[1], 'stop') == 1 or redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
if not takeSteering(KEYS[1], KEYS[2]) then return 0 end
redis.call('HSETNX', KEYS[1], 'stop', ARGV[1])
return 1`);

/**
 * Ends a batch with the messages of the meantime and all its calls (ids saved before may be lost), and notifies all
 * subscribers. Idempotent. Returns the bytes of its messages. KEYS 1 batch, 2 batches, 3 steering, 4 ended batches, 5
 * bytes of the tenant's batches. ARGV 1 id, 2 channel, 3 TTL of the batch in s, 4… field and id of each call.
 */
export const finishScript = new LuaScript(`#!lua flags=allow-oom
${NOW}${TAKE_STEERING}${TENANT_BATCHES}
redis.call('ZREM', KEYS[2], ARGV[1])
forgetOpen(KEYS[5], ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HSETNX', KEYS[1], 'ended', string.format('%.0f', now)) == 0 then
  return redis.call('HSTRLEN', KEYS[1], 'steering')
end
takeSteering(KEYS[1], KEYS[3])
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('HDEL', KEYS[1], 'calls')
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', string.format('%.0f', now - ARGV[3] * 1000))
redis.call('ZADD', KEYS[4], string.format('%.0f', now), ARGV[1])
redis.call('EXPIRE', KEYS[4], ARGV[3])
redis.call('PUBLISH', ARGV[2], ARGV[1])
return redis.call('HSTRLEN', KEYS[1], 'steering')`);

/** Bytes of the waiting messages and of the last ones. Counts the lists of an earlier release, which stored no sizes. */
const STEERING_BYTES = `
local function sizes(steering, steered, bytes)
  local counted = redis.call('HMGET', bytes, 'waiting', 'last')
  for i, list in ipairs({ steering, steered }) do
    if redis.call('LLEN', list) == 0 then
      counted[i] = 0
    elseif not counted[i] then
      counted[i] = 0
      for _, text in ipairs(redis.call('LRANGE', list, 0, -1)) do counted[i] = counted[i] + #text end
    end
  end
  return tonumber(counted[1]), tonumber(counted[2])
end
`;

/** Bytes in Redis of the messages to a session. KEYS 1 steering, 2 steered, 3 bytes of both. */
export const steeringBytesScript = new LuaScript(`#!lua flags=allow-oom
${STEERING_BYTES}
local waiting, last = sizes(KEYS[1], KEYS[2], KEYS[3])
return waiting + last`);

/**
 * Queues a message of a person. KEYS 1 steering, 2 steered, 3 bytes of both. ARGV 1 message as JSON, 2 most messages that wait
 * and that are stored, 3 TTL in s. Returns the number of waiting messages, 0 if the queue is full, and the bytes of all.
 * Repeating the newest message changes nothing; after another message, or once a batch has taken it, a repetition would queue
 * it twice.
 */
export const queueSteeringScript: DurableScript = {
  repeatable: false,
  script: new LuaScript(`#!lua
${STEERING_BYTES}
local waitingBytes, lastBytes = sizes(KEYS[1], KEYS[2], KEYS[3])
local waiting, most = redis.call('LLEN', KEYS[1]), tonumber(ARGV[2])
if waiting > 0 and redis.call('LINDEX', KEYS[1], -1) == ARGV[1] then return { waiting, waitingBytes + lastBytes } end
if waiting >= most then return { 0, waitingBytes + lastBytes } end
redis.call('RPUSH', KEYS[1], ARGV[1])
waitingBytes, lastBytes = waitingBytes + #ARGV[1], lastBytes + #ARGV[1]
if redis.call('RPUSH', KEYS[2], ARGV[1]) > most then lastBytes = lastBytes - #redis.call('LPOP', KEYS[2]) end
redis.call('HSET', KEYS[3], 'waiting', waitingBytes, 'last', lastBytes)
for i = 1, 3 do redis.call('EXPIRE', KEYS[i], ARGV[3]) end
return { waiting + 1, waitingBytes + lastBytes }`),
};
