import type { Principal } from '#contracts';
import { globMatches, globOrFault, isInList, PatternError } from '#patterns';
import { forbiddingPattern, matchesTool } from '#policy';

type ForbiddableTool = Parameters<typeof forbiddingPattern>[1];

/**
 * True if the key may use the tool: keys without patterns may use all, others those in their list of globs of names and
 * patterns of sources (`@source`, `@source/name`). Patterns after `!` match like forbidding patterns of a policy.
 */
export function isToolAllowed({ tools }: Pick<Principal, 'tools'>, tool: ForbiddableTool): boolean {
  if (tools === undefined) return true;
  const matches = (pattern: string) => (pattern.startsWith('@') ? matchesTool(pattern, tool) : globMatches(pattern, tool.name));
  const forbids = (pattern: string) => matches(pattern) || forbiddingPattern([pattern], tool) !== undefined || isRefused(pattern);
  return isInList(tools, matches, forbids);
}

/** True for a pattern without a valid glob, which forbids everything since its meaning is unknown. */
function isRefused(pattern: string): boolean {
  return globOrFault(pattern) instanceof PatternError;
}

/** True if one of the globs of agents, users or tenants matches. */
export function anyGlobMatches(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => globMatches(glob, name));
}
