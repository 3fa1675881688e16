import { HookVerdict, type AppliedHook, type HookInput } from '#contracts';
import { keys, LuaScript, sha256Hex, type RedisConnection } from '#redis';

/** A longer answer is not cached: each distinct call of a session would keep one for up to a day. */
const MOST_CHARACTERS = 16_384;
/** Bytes of answers of session hooks that are cached of a tenant at a time. */
const MOST_BYTES = 67_108_864;
/** Longest life of an answer. */
const DAY_MS = 86_400_000;
/** Bytes of an answer besides its text: its key and its place in the index. */
const KEY_BYTES = 512;

/**
 * Counts an answer until its end. Drops ended ones first, at most 1,000 per run. KEYS[1] answers by their end, KEYS[2]
 * the sum of their bytes; ARGV[1] bytes and key of the answer, ARGV[2] bytes, ARGV[3] now and ARGV[4] its end in ms,
 * ARGV[5] most bytes, ARGV[6] lifetime of both keys in ms. Returns 1, or 0 if there is no room.
 */
const COUNT = new LuaScript(`#!lua
local sum = tonumber(redis.call('GET', KEYS[2]) or '0')
for _, answer in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[3], 'LIMIT', 0, 1000)) do
  sum = sum - tonumber(string.match(answer, '^%d+'))
  redis.call('ZREM', KEYS[1], answer)
end
local added = redis.call('ZSCORE', KEYS[1], ARGV[1]) and 0 or tonumber(ARGV[2])
local fits = sum + added <= tonumber(ARGV[5])
if fits then
  sum = sum + added
  redis.call('ZADD', KEYS[1], ARGV[4], ARGV[1])
end
redis.call('SET', KEYS[2], string.format('%.0f', sum), 'PX', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return fits and 1 or 0`);

/** True if a value contains known secrets. */
export type HoldsSecrets = (value: object) => boolean;

/**
 * Answers of hooks in a session, for all gateways and workers. The key is hook, tool, arguments and, after a call,
 * result. A changed hook of the config file is another hook; a deleted session starts without answers.
 *
 * Excluded are answers without a session, long ones, those of session hooks beyond a limit by tenant, failures, and
 * anything with a secret, even the digest of such an input, from which the secret could be guessed. While Redis is
 * unreachable, the cache is empty.
 */
export class HookCache {
  constructor(private readonly redis: RedisConnection) {}

  /** Key of the answer to this input; undefined if it is not cached. */
  keyOf(hook: AppliedHook, input: HookInput, sessionEpoch: number, holdsSecrets: HoldsSecrets): string | undefined {
    const { tenant_id, session_id, agent_id, tool_name, tool_input, tool_response } = input;
    if (hook.cacheMs === 0 || session_id === undefined || (hook.on !== 'before' && hook.on !== 'after')) return undefined;
    if (holdsSecrets({ tool_input, ...(tool_response === undefined ? {} : { tool_response }) })) return undefined;
    const question = [hook, sessionEpoch, agent_id, tool_name, tool_input, tool_response];
    return keys.hookAnswer(tenant_id, session_id, sha256Hex(JSON.stringify(question)));
  }

  async get(key: string): Promise<HookVerdict | undefined> {
    const stored = await this.redis.get(key).catch(() => null);
    return stored === null ? undefined : HookVerdict.parse(JSON.parse(stored));
  }

  async put(key: string, tenantId: string, verdict: HookVerdict, { by, cacheMs }: AppliedHook, holdsSecrets: HoldsSecrets): Promise<void> {
    const text = JSON.stringify(verdict);
    if (text.length > MOST_CHARACTERS || holdsSecrets(verdict)) return;
    if (by === 'session' && !(await this.hasRoom(tenantId, key, Buffer.byteLength(text), cacheMs))) return;
    await this.redis.set(key, text, 'PX', cacheMs).catch(() => null);
  }

  private async hasRoom(tenantId: string, key: string, textBytes: number, lifeMs: number): Promise<boolean> {
    const [bytes, now] = [KEY_BYTES + textBytes, Date.now()];
    const names = [keys.hookAnswerEnds(tenantId), keys.hookAnswerBytes(tenantId)];
    try {
      return (await COUNT.run(this.redis, names, [`${bytes} ${key}`, bytes, now, now + lifeMs, MOST_BYTES, DAY_MS])) === 1;
    } catch {
      return false;
    }
  }
}
