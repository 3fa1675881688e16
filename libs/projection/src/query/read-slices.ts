import { LuaScript, type RedisConnection } from '#redis';
import { SEGMENT } from '../postings/postings.js';
import { BLOCK, BLOCK_BYTES, SLICE_BYTES } from '../postings/signatures.js';

/**
 * KEYS[1] signatures of a segment · ARGV bytes of a block, blocks, bytes of a slice, then the offset in a block of each
 * slice wanted · for each block its slices one after the other, or an empty text while it is not full
 */
const READ_SLICES = new LuaScript(`#!lua flags=no-writes
local block, blocks, bytes = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local length = redis.call('STRLEN', KEYS[1])
local found = {}
for b = 0, blocks - 1 do
  local parts = {}
  if length >= (b + 1) * block then
    for i = 4, #ARGV do
      local at = b * block + tonumber(ARGV[i])
      parts[i - 3] = redis.call('GETRANGE', KEYS[1], at, at + bytes - 1)
    end
  end
  found[b + 1] = table.concat(parts)
end
return found`);

/** By block of the segment. */
export async function readSlices(redis: RedisConnection, key: string, slices: readonly number[]): Promise<readonly Buffer[]> {
  const offsets = slices.map((slice) => slice * SLICE_BYTES);
  const found = await READ_SLICES.runBuffer(redis, [key], [BLOCK_BYTES, SEGMENT / BLOCK, SLICE_BYTES, ...offsets]);
  return Array.isArray(found) ? found.filter((part) => Buffer.isBuffer(part)) : [];
}
