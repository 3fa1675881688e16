import type { Dialect } from './dialect.js';

/** The names by which known agents know the canonical tools. */
export interface AgentNames {
  /** All names of one tool. */
  of(tool: string): readonly string[];
  /** The tool of a name, where all agents mean one and the same. */
  meaning(name: string): string | undefined;
  /** All tools that an agent means by a name; by one that none has, in upper or lower case. */
  meanings(name: string): readonly string[];
  /** The dialects that have the name for this tool. */
  speakers(name: string, tool: string): readonly string[];
  /** Explanation of a name by which two agents mean different tools. */
  dispute(name: string): string | undefined;
}

/** Pure. */
export function agentNamesOf(dialects: readonly Pick<Dialect, 'name' | 'tools' | 'namesInRules'>[]): AgentNames {
  const uses = dialects.flatMap(({ name: dialect, tools, namesInRules = {} }) => [
    ...tools.flatMap(({ name, aliases = [], tool, means = [tool] }) =>
      [name, ...aliases].map((it) => ({ dialect, name: it, tools: [...means] })),
    ),
    ...Object.entries(namesInRules).map(([name, tool]) => ({ dialect, name, tools: [tool] })),
  ]);
  const byTool = new Map<string, Set<string>>();
  const byName = new Map<string, typeof uses>();
  for (const use of uses) {
    byName.set(use.name, [...(byName.get(use.name) ?? []), use]);
    for (const tool of use.tools) byTool.set(tool, (byTool.get(tool) ?? new Set()).add(use.name));
  }
  const namesByTool = new Map([...byTool].map(([tool, names]) => [tool, [...names]]));
  return {
    of: (tool) => namesByTool.get(tool) ?? [],
    meaning: (name) => {
      const tools = new Set((byName.get(name) ?? []).flatMap((use) => use.tools));
      return tools.size === 1 ? [...tools][0] : undefined;
    },
    meanings: (name) => {
      const lower = name.toLowerCase();
      const said = byName.get(name) ?? uses.filter((use) => use.name.toLowerCase() === lower);
      return [...new Set(said.flatMap((use) => use.tools))];
    },
    speakers: (name, tool) => (byName.get(name) ?? []).flatMap((use) => (use.tools.includes(tool) ? use.dialect : [])),
    dispute: (name) => {
      const own = byName.get(name) ?? [];
      if (new Set(own.map(({ tools: [tool] }) => tool)).size < 2) return undefined;
      return own.map(({ dialect, tools: [tool = name] }) => `${tool} in ${dialect}`).join(', ');
    },
  };
}
