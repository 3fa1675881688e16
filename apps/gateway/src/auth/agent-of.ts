import { ProblemError, type Principal } from '#contracts';
import { anyGlobMatches } from './tool-patterns.js';

/**
 * Agent of a call: the named one, else the key's, if present. Key for policy, posture, hooks and limits.
 * @throws ProblemError `forbidden` for an agent that the key may not act for
 */
export function agentOf(principal: Principal, named: string | undefined): string | undefined {
  const refusal = agentRejection(principal, named);
  if (refusal !== undefined) throw refusal;
  return named ?? principal.agentId;
}

/** Rejection of an agent that the key may not act for; undefined otherwise. */
export function agentRejection({ keyId, agentId, agents = [] }: Principal, named: string | undefined): ProblemError | undefined {
  if (named === undefined || named === agentId || anyGlobMatches(agents, named)) return undefined;
  const may = [...(agentId === undefined ? [] : [agentId]), ...agents].join(', ');
  return new ProblemError('forbidden', `The key ${keyId} may not act for the agent ${named}; expected ${may || 'no agentId'}`, {
    errors: [{ pointer: '/agentId', message: `expected ${may || 'none'}` }],
  });
}
