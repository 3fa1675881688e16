import type { Principal } from '#contracts';
import { userMark } from './user-of.js';

export interface RepeaterMark {
  readonly user?: string | undefined;
  readonly agent?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Part of what recognises a repeated submission: the user, the agent, and the key itself if it may not use all tools. An
 * answer to a repetition has the result of the first call, and policies look up what a call may do by its agent. An agent
 * or user that the submission names is in its body. Empty for a key without any of these.
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
