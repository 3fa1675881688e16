import type { NameRules } from '#contracts';

/** More than any name has that is offered: replacements may lengthen each other without end. */
const MOST_CHARS = 256;

/** The name of a tool by the rules of its source, of at most 256 characters and the prefix. Pure. */
export function renameTool(rawName: string, { replace = [], prefix = '' }: Partial<NameRules> = {}): string {
  const replaced = (name: string, { from, to }: NameRules['replace'][number]) => name.replaceAll(from, to).slice(0, MOST_CHARS);
  return prefix + replace.reduce(replaced, rawName.slice(0, MOST_CHARS));
}
