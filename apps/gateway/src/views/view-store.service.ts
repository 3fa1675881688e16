import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, SavedView, VIEW_LIMITS, type Principal } from '#contracts';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { KeysService } from '../auth/keys/keys.service.js';
import { issuerOfKeyId } from '../auth/tokens/token-principal.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { SessionRoom } from '../sessions/session-room.service.js';

/**
 * Saves a view. KEYS[1] views of the owner; ARGV[1] name, ARGV[2] text, ARGV[3] most views, ARGV[4] lifetime in ms. Returns 1, or 0
 * if there are too many.
 */
const SAVE = new LuaScript(`#!lua
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`);

/** Bytes of the views of the owner, KEYS[1], without the one of the name ARGV[1]. */
const BYTES = new LuaScript(`#!lua flags=allow-oom
local sum = 0
for _, text in ipairs(redis.call('HGETALL', KEYS[1])) do sum = sum + #text end
return sum - redis.call('HSTRLEN', KEYS[1], ARGV[1])`);

const RENEWED_AFTER_MS = 24 * 3_600_000;

type Owner = Pick<Principal, 'tenantId' | 'keyId' | 'expiresAt'>;

/**
 * Views of the list of calls, by key; those of a person who has signed in are the same in each login. They are counted with the
 * sessions of the tenant, and end with their key.
 */
@Injectable()
export class ViewStore {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly room: SessionRoom,
    apiKeys: KeysService,
  ) {
    apiKeys.onRevoked((tenantId, keyId) => this.forget({ tenantId, keyId }));
  }

  /** The last saved first. Renews their lifetime, at most once a day. */
  async list(owner: Principal): Promise<SavedView[]> {
    const key = keyOf(owner);
    const [texts, leftMs] = await Promise.all([this.redis.hvals(key), this.redis.pttl(key)]);
    if (texts.length > 0 && lifeMs(owner) - leftMs > RENEWED_AFTER_MS) {
      await this.redis.pexpire(key, lifeMs(owner));
      await this.recount(owner);
    }
    const views = texts.map((text) => SavedView.parse(JSON.parse(text)));
    return views.sort((a, b) => b.savedAt.localeCompare(a.savedAt));
  }

  /** @throws ProblemError `quota_exceeded` if the owner has too many, or the tenant has no room */
  async put(owner: Principal, view: SavedView): Promise<SavedView> {
    const text = JSON.stringify(view);
    const bytes = Number(await BYTES.run(this.redis, [keyOf(owner)], [view.name])) + Buffer.byteLength(text) + view.name.length;
    await this.room.count(owner.tenantId, owner.keyId, 'views', { bytes, lifeMs: lifeMs(owner) });
    const isSaved = (await SAVE.run(this.redis, [keyOf(owner)], [view.name, text, VIEW_LIMITS.perOwner, lifeMs(owner)])) === 1;
    // Others may have been saved meanwhile.
    await this.recount(owner);
    if (isSaved) return view;
    throw new ProblemError('quota_exceeded', `There are ${VIEW_LIMITS.perOwner} views, which is the most: remove one first`);
  }

  async delete(owner: Principal, name: string): Promise<void> {
    await this.redis.hdel(keyOf(owner), name);
    await this.recount(owner);
  }

  private async forget(owner: Owner): Promise<void> {
    await this.redis.del(keyOf(owner));
    await this.recount(owner);
  }

  private async recount(owner: Owner): Promise<void> {
    const bytes = Number(await BYTES.run(this.redis, [keyOf(owner)], ['']));
    await this.room.count(owner.tenantId, owner.keyId, 'views', { bytes, lifeMs: lifeMs(owner), always: true });
  }
}

function keyOf({ tenantId, keyId }: Owner): string {
  return keys.savedViews(tenantId, keyId);
}

/** Time for which views are kept without use: at most until the end of an API key; tokens and logins are renewed. */
function lifeMs({ keyId, expiresAt }: Owner): number {
  if (expiresAt === undefined || issuerOfKeyId(keyId) !== undefined) return VIEW_LIMITS.keptMs;
  return Math.max(1, Math.min(VIEW_LIMITS.keptMs, Date.parse(expiresAt) - Date.now()));
}
