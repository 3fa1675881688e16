import { LuaScript } from '#redis';

/**
 * Deletes what was announced and pinned of a source that has no definition; nothing of one that has. In one step: a source that is
 * added again meanwhile keeps its definition, and the tokens that people let it have.
 * KEYS 1 definitions, 2 entries, 3 revisions by source, 4 bytes of pins by source, 5 revision, 6… keys of the source alone. ARGV 1 source.
 */
export const withdrawRemovedScript = new LuaScript(`#!lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return end
for i = 2, 4 do redis.call('HDEL', KEYS[i], ARGV[1]) end
for i = 6, #KEYS do redis.call('DEL', KEYS[i]) end
redis.call('INCR', KEYS[5])`);
