import { HookVerdict, type AppliedHook, type HookInput } from '#contracts';
import { keys, sha256Hex, type RedisConnection } from '#redis';

/** Whether secrets are known in a value. */
export type HoldsSecrets = (value: object) => boolean;

/**
 * What hooks answered in a session, for all gateways and workers. The key is hook, tool, arguments and, after a call,
 * result. A hook that is changed in the config file is another hook; a session that was deleted starts without answers.
 *
 * Not kept are answers without a session, failures, and anything with a secret in it: not even the digest of such a
 * question, from which the secret could be guessed. While Redis is out of reach, nothing is found.
 */
export class HookCache {
  constructor(private readonly redis: RedisConnection) {}

  /** Where the answer to this question is kept; undefined when none is. */
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

  async put(key: string, verdict: HookVerdict, { cacheMs }: AppliedHook, holdsSecrets: HoldsSecrets): Promise<void> {
    if (!holdsSecrets(verdict)) await this.redis.set(key, JSON.stringify(verdict), 'PX', cacheMs).catch(() => null);
  }
}
