import picomatch from 'picomatch';
import type { Principal } from '#contracts';

const compiled = new WeakMap<readonly string[], (name: string) => boolean>();

/** Whether the key may use the tool: keys without patterns may use all, others what one of their globs matches. */
export function mayUseTool({ tools }: Pick<Principal, 'tools'>, name: string): boolean {
  if (tools === undefined) return true;
  let matches = compiled.get(tools);
  if (matches === undefined) {
    matches = picomatch([...tools], { dot: true });
    compiled.set(tools, matches);
  }
  return matches(name);
}
