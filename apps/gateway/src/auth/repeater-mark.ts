import type { Principal } from '#contracts';
import { userMark } from './user-of.js';

export interface RepeaterMark {
  readonly user?: string | undefined;
  readonly agent?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Part of the identity of a repeated submission: the user, the agent, and the key itself if it may not use all tools. A
 * repetition gets the result of the first call, and policies decide by agent. An agent or user in the submission is part of its
 * body. Empty for a key without any of these.
 */
export function repeaterMark(
  principal: Principal,
  named: { readonly agentId?: string | undefined; readonly userId?: string | undefined },
): RepeaterMark {
  return {
    user: userMark(principal, named.userId),
    agent: named.agentId === undefined ? principal.agentId : undefined,
    key: principal.tools === undefined ? undefined : principal.keyId,
  };
}
