import { ProblemError, type Principal } from '#contracts';
import { matcherOf } from './tool-patterns.js';

/**
 * The agent that a call is of: the one that it names, else the key's own, if it has one. Policy, posture, hooks and limits
 * are looked up by it. Throws `forbidden` for a name that the key may not act for.
 */
export function agentOf({ keyId, agentId, agents = [] }: Principal, named: string | undefined): string | undefined {
  if (named === undefined || named === agentId || matcherOf(agents)(named)) return named ?? agentId;
  const may = [...(agentId === undefined ? [] : [agentId]), ...agents].join(', ');
  throw new ProblemError('forbidden', `The key ${keyId} may not act for the agent ${named}; expected ${may || 'no agentId'}`, {
    errors: [{ pointer: '/agentId', message: `expected ${may || 'none'}` }],
  });
}
