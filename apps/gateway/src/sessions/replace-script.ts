import { LuaScript } from '#redis';
import type { DurableScript } from '../platform/durable-writes.service.js';

export const DAY_MS = 86_400_000;
/** Of a session, from its last use on. */
export const SESSION_LIFE_MS = 30 * DAY_MS;

/**
 * Writes a text if it has not changed since it was read; repeated after changes of others it could undo them.
 * KEYS[1] where it is; ARGV[1] the text as it was read, empty for none; ARGV[2] the new text; ARGV[3] life in ms. Answers 1, or 0.
 */
export const replaceScript: DurableScript = {
  repeatable: false,
  script: new LuaScript(`#!lua
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`),
};
