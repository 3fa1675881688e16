import type { PolicyConfig, ToolDescriptor } from '#contracts';
import { parseName } from '#policy';

type Aliases = PolicyConfig['toolAliases'];

/** Registered tool of an alias in the agent's configuration; undefined for any other name. Pure. */
export function aliasedTool(aliases: Aliases, alias: string): string | undefined {
  const full = Object.keys(aliases).find((name) => aliases[name] === alias);
  return full === undefined ? undefined : registeredName(full);
}

/**
 * Tools under the aliases of the agent's configuration, sorted by name. Another tool of the same name is shown with its source
 * as prefix, which calls may always use; a built-in one has no such name and is left out. Pure.
 */
export function withAliases(tools: readonly ToolDescriptor[], aliases: Aliases): ToolDescriptor[] {
  if (Object.keys(aliases).length === 0) return [...tools];
  const exposed = new Map(Object.entries(aliases).map(([full, name]) => [registeredName(full), name]));
  const exposedNames = new Set(exposed.values());
  const named = tools.flatMap((tool) => {
    const names = [tool.name, ...tool.aliases];
    const alias = names.map((name) => exposed.get(name)).find((name) => name !== undefined);
    const [name, ...others] =
      alias === undefined ? names.filter((it) => !exposedNames.has(it)) : [alias, ...names.filter((it) => it !== alias)];
    if (name === undefined || (alias === undefined && exposedNames.has(tool.name) && tool.source === 'builtin')) return [];
    return [{ ...tool, name, aliases: others }];
  });
  return named.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Name in the registry: each tool of a source can be called as `source__tool`. */
function registeredName(full: string): string {
  const written = parseName(full);
  if (written.kind !== 'source' || written.name === undefined) return full;
  return written.source === 'builtin' ? written.name : `${written.source}__${written.name}`;
}
