import { globMatches } from '#patterns';
import type { ToolFacts } from '../call-facts.js';
import { parseName } from './written-name.js';

export const BUILTIN = 'builtin';

/** Tools that change what an agent is; a wildcard never means them, only their name does. */
const BY_NAME_ONLY = new Set(['switch_to_execution']);

/** The tool `shell` by all of its names, as agents know it. */
const SHELL_NAMES = ['shell', 'bash', 'shell_exec', 'execute_bash', 'execute_cmd', 'executeCmd'];

/**
 * Whether a tool pattern means a tool: a name or alias, a glob of names, `*`, `@builtin`, `@builtin/x`, `@mcp` (every
 * source but the built-in one), `@source`, `@source/x`, with globs after the slash. `#x` is kept for agents and means none.
 */
export function matchesTool(pattern: string, tool: Pick<ToolFacts, 'name' | 'aliases' | 'source'>): boolean {
  if (pattern === '*') return !BY_NAME_ONLY.has(tool.name);
  const written = parseName(pattern);
  if (written.kind === 'agent') return false;
  const names = [tool.name, ...tool.aliases];
  if (written.kind === 'plain')
    return names.includes(pattern) || (!BY_NAME_ONLY.has(tool.name) && names.some((it) => globMatches(pattern, it)));
  const { source, name = '' } = written;
  if (source !== tool.source && !(source === 'mcp' && tool.source !== BUILTIN)) return false;
  // Without the source in front, which a name has when other sources have the same.
  const own = [...names, ...names.flatMap((it) => (it.startsWith(`${tool.source}__`) ? it.slice(tool.source.length + 2) : []))];
  if (own.includes(name)) return true;
  return !BY_NAME_ONLY.has(tool.name) && (name === '' || own.some((it) => globMatches(name, it)));
}

/** The first of the patterns that means the tool. */
export function matchingPattern(patterns: readonly string[], tool: Pick<ToolFacts, 'name' | 'aliases' | 'source'>): string | undefined {
  return patterns.find((pattern) => matchesTool(pattern, tool));
}

/**
 * The first of the patterns that means the tool, of patterns that forbid or check. They also mean a tool that is called
 * `source__name` only because another source has a tool of the same name: no source frees a tool of another one. `shell` means
 * every built-in tool that runs commands, by each of its names and globs of them; `@builtin/shell` means that tool alone.
 */
export function forbiddingPattern(
  patterns: readonly string[],
  tool: Pick<ToolFacts, 'name' | 'aliases' | 'source'> & Partial<Pick<ToolFacts, 'pool'>>,
): string | undefined {
  if (patterns.length === 0) return undefined;
  const family = tool.source === BUILTIN && tool.pool === 'shell' ? patterns.find(meansShell) : undefined;
  if (family !== undefined) return family;
  const prefix = `${tool.source}__`;
  if (!tool.name.startsWith(prefix)) return matchingPattern(patterns, tool);
  return matchingPattern(patterns, { ...tool, aliases: [...tool.aliases, tool.name.slice(prefix.length)] });
}

/** Upper and lower case are the same: agents write `Bash`, too. */
function meansShell(pattern: string): boolean {
  if (parseName(pattern).kind !== 'plain') return false;
  const lower = pattern.toLowerCase();
  return SHELL_NAMES.some((name) => name.toLowerCase() === lower || globMatches(pattern, name));
}
