import { HookVerdict, type AppliedHook, type HookInput } from '#contracts';
import { keys, sha256Hex, type RedisConnection } from '#redis';

/** A longer answer is not cached: each distinct call of a session would keep one for up to a day. */
const MOST_CHARACTERS = 16_384;
/** Bytes of answers of session hooks that are cached of a tenant in a day, which is the longest life of one. */
const MOST_BYTES = 67_108_864;
const DAY_MS = 86_400_000;
/** Bytes of a key besides its text. */
const KEY_BYTES = 256;

/** True if a value contains known secrets. */
export type HoldsSecrets = (value: object) => boolean;

/**
 * Answers of hooks in a session, for all gateways and workers. The key is hook, tool, arguments and, after a call, result. A
 * changed hook of the config file is another hook; a deleted session starts without answers.
 *
 * Excluded are answers without a session, long ones, those of session hooks beyond a limit by tenant, failures, and anything with a secret, even the digest of such an input, from which
 * the secret could be guessed. While Redis is unreachable, the cache is empty.
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
    if (by === 'session' && !(await this.hasRoom(tenantId, Buffer.byteLength(text)))) return;
    await this.redis.set(key, text, 'PX', cacheMs).catch(() => null);
  }

  private async hasRoom(tenantId: string, bytes: number): Promise<boolean> {
    const key = keys.hookAnswerBytes(tenantId);
    try {
      const [used] = await Promise.all([this.redis.incrby(key, KEY_BYTES + bytes), this.redis.pexpire(key, DAY_MS, 'NX')]);
      return used <= MOST_BYTES;
    } catch {
      return false;
    }
  }
}
