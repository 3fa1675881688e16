import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, SavedView, VIEW_LIMITS, type Principal } from '#contracts';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';

/**
 * Saves a view. KEYS[1] views of the owner; ARGV[1] name, ARGV[2] text, ARGV[3] most views, ARGV[4] lifetime in ms. Returns 1, or 0
 * if there are too many.
 */
const SAVE = new LuaScript(`#!lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`);

/** Views of the list of calls, by key; those of a person who has signed in are the same in each login. */
@Injectable()
export class ViewStore {
  constructor(@Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection) {}

  /** The last saved first. Renews their lifetime. */
  async list(owner: Principal): Promise<SavedView[]> {
    const key = keyOf(owner);
    const [texts] = await Promise.all([this.redis.hvals(key), this.redis.pexpire(key, VIEW_LIMITS.keptMs)]);
    const views = texts.map((text) => SavedView.parse(JSON.parse(text)));
    return views.sort((a, b) => b.savedAt.localeCompare(a.savedAt));
  }

  /** @throws ProblemError `quota_exceeded` if the owner has too many */
  async put(owner: Principal, view: SavedView): Promise<SavedView> {
    const args = [view.name, JSON.stringify(view), VIEW_LIMITS.perOwner, VIEW_LIMITS.keptMs];
    if ((await SAVE.run(this.redis, [keyOf(owner)], args)) === 1) return view;
    throw new ProblemError('quota_exceeded', `There are ${VIEW_LIMITS.perOwner} views, which is the most: remove one first`);
  }

  async delete(owner: Principal, name: string): Promise<void> {
    await this.redis.hdel(keyOf(owner), name);
  }
}

function keyOf({ tenantId, keyId }: Principal): string {
  return keys.savedViews(tenantId, keyId);
}
