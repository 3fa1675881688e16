import { LuaScript } from '#redis';
import type { DurableScript } from '../platform/durable-writes.service.js';

export const DAY_MS = 86_400_000;
/** Lifetime of a session after its last use. */
export const SESSION_LIFE_MS = 30 * DAY_MS;

/**
 * Writes a text if it has not changed since it was read. Not repeatable: it could undo later changes by others. KEYS[1] key of
 * the text; ARGV[1] text that was read, empty for none; ARGV[2] new text; ARGV[3] life in ms. Returns 1, or 0.
 */
export const replaceScript: DurableScript = {
  repeatable: false,
  script: new LuaScript(`#!lua
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`),
};
