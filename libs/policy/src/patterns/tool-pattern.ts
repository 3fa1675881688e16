import { globMatches } from '#patterns';
import type { ToolFacts } from '../call-facts.js';
import { parseName } from './written-name.js';

export const BUILTIN = 'builtin';

/** Tools that change what an agent is; a wildcard never means them, only their name does. */
const BY_NAME_ONLY = new Set(['switch_to_execution']);

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
 * every built-in tool that runs commands, `@builtin/shell` that tool alone.
 */
export function forbiddingPattern(
  patterns: readonly string[],
  tool: Pick<ToolFacts, 'name' | 'aliases' | 'source'> & Partial<Pick<ToolFacts, 'pool'>>,
): string | undefined {
  if (patterns.length === 0) return undefined;
  if (tool.source === BUILTIN && tool.pool === 'shell' && patterns.includes('shell')) return 'shell';
  const prefix = `${tool.source}__`;
  if (!tool.name.startsWith(prefix)) return matchingPattern(patterns, tool);
  return matchingPattern(patterns, { ...tool, aliases: [...tool.aliases, tool.name.slice(prefix.length)] });
}
