import type { Principal } from '#contracts';
import { globMatches } from '#patterns';

type Matcher = (name: string) => boolean;

/** Whether the key may use the tool: keys without patterns may use all, others what one of their globs matches. */
export function isToolAllowed({ tools }: Pick<Principal, 'tools'>, name: string): boolean {
  return tools === undefined || matcherOf(tools)(name);
}

/** Whether one of the globs of a key matches. A `!` in front means all that the rest does not match. */
export function matcherOf(globs: readonly string[]): Matcher {
  return (name) => globs.some((glob) => (glob.startsWith('!') ? !globMatches(glob.slice(1), name) : globMatches(glob, name)));
}
