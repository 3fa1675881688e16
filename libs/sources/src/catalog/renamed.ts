import type { NameRules } from '#contracts';

/** The name of a tool by the rules of its source. Pure. */
export function renamed(rawName: string, { replace = [], prefix = '' }: Partial<NameRules> = {}): string {
  return prefix + replace.reduce((name, { from, to }) => name.replaceAll(from, to), rawName);
}
