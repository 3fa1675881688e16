import picomatch from 'picomatch';
import type { Principal } from '#contracts';

type Matcher = (name: string) => boolean;

const compiled = new WeakMap<readonly string[], Matcher>();

/** Whether the key may use the tool: keys without patterns may use all, others what one of their globs matches. */
export function mayUseTool({ tools }: Pick<Principal, 'tools'>, name: string): boolean {
  return tools === undefined || matcherOf(tools)(name);
}

/** Whether one of the globs of a key matches; compiled once a list. */
export function matcherOf(globs: readonly string[]): Matcher {
  let matches = compiled.get(globs);
  if (matches === undefined) {
    matches = globs.length === 0 ? () => false : picomatch([...globs], { dot: true });
    compiled.set(globs, matches);
  }
  return matches;
}
