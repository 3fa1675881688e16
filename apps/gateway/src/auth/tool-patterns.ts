import type { Principal } from '#contracts';
import { globMatches } from '#patterns';
import { forbiddingPattern, matchesTool } from '#policy';

type ForbiddableTool = Parameters<typeof forbiddingPattern>[1];
type Matcher = (name: string) => boolean;

/**
 * Whether the key may use the tool: keys without patterns may use all, others what one of their globs of names or
 * patterns of sources (`@source`, `@source/name`) matches. A `!` in front means all that the rest does not match.
 */
export function isToolAllowed({ tools }: Pick<Principal, 'tools'>, tool: ForbiddableTool): boolean {
  if (tools === undefined) return true;
  const matches = (pattern: string) => (pattern.startsWith('@') ? matchesTool(pattern, tool) : globMatches(pattern, tool.name));
  const forbids = (pattern: string) => matches(pattern) || forbiddingPattern([pattern], tool) !== undefined;
  return tools.some((pattern) => (pattern.startsWith('!') ? !forbids(pattern.slice(1)) : matches(pattern)));
}

/** Whether one of the globs of a key matches. A `!` in front means all that the rest does not match. */
export function matcherOf(globs: readonly string[]): Matcher {
  return (name) => globs.some((glob) => (glob.startsWith('!') ? !globMatches(glob.slice(1), name) : globMatches(glob, name)));
}
