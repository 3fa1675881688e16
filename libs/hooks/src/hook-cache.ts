import { HookVerdict, type AppliedHook, type HookInput } from '#contracts';
import { keys, sha256Hex, type RedisConnection } from '#redis';

/**
 * What hooks answered in a session, for all gateways and workers. The same question is the same hook, tool, arguments
 * and, after a call, result; a hook that is changed in the config file is another one. Without a session nothing is kept.
 * Redis out of reach is as if nothing were kept. Failures are never kept.
 */
export class HookCache {
  constructor(private readonly redis: RedisConnection) {}

  async get(hook: AppliedHook, input: HookInput): Promise<HookVerdict | undefined> {
    const key = keyOf(hook, input);
    if (key === undefined) return undefined;
    const stored = await this.redis.get(key).catch(() => null);
    return stored === null ? undefined : HookVerdict.parse(JSON.parse(stored));
  }

  async put(hook: AppliedHook, input: HookInput, verdict: HookVerdict): Promise<void> {
    const key = keyOf(hook, input);
    if (key !== undefined) await this.redis.set(key, JSON.stringify(verdict), 'PX', hook.cacheMs).catch(() => null);
  }
}

function keyOf(
  hook: AppliedHook,
  { tenant_id, session_id, agent_id, tool_name, tool_input, tool_response }: HookInput,
): string | undefined {
  if (hook.cacheMs === 0 || session_id === undefined || hook.on === 'before_update' || hook.on === 'after_update') return undefined;
  return keys.hookAnswer(tenant_id, session_id, sha256Hex(JSON.stringify([hook, agent_id, tool_name, tool_input, tool_response])));
}
