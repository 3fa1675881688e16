import { ProblemError, type Principal } from '#contracts';
import { anyGlobMatches } from './tool-patterns.js';

/**
 * The agent of a call: the one that the call names, else that of its key, if it has one. Policy, posture, hooks and
 * limits are looked up by it.
 * @throws ProblemError `forbidden` for an agent that the key may not act for
 */
export function agentOf(principal: Principal, named: string | undefined): string | undefined {
  const refusal = agentRejection(principal, named);
  if (refusal !== undefined) throw refusal;
  return named ?? principal.agentId;
}

/** Why the key may not act for the agent that a call names; undefined when it may. */
export function agentRejection({ keyId, agentId, agents = [] }: Principal, named: string | undefined): ProblemError | undefined {
  if (named === undefined || named === agentId || anyGlobMatches(agents, named)) return undefined;
  const may = [...(agentId === undefined ? [] : [agentId]), ...agents].join(', ');
  return new ProblemError('forbidden', `The key ${keyId} may not act for the agent ${named}; expected ${may || 'no agentId'}`, {
    errors: [{ pointer: '/agentId', message: `expected ${may || 'none'}` }],
  });
}
