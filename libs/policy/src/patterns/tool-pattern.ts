import { AGENT_NAMES } from '#dialects';
import { globMatches } from '#patterns';
import type { ToolFacts } from '../call-facts.js';
import { parseName } from './name-parts.js';

export const BUILTIN = 'builtin';
const OWN = `@${BUILTIN}/`;

/** Tools that change the agent itself; matched by name only, never by a wildcard. */
const BY_NAME_ONLY = new Set(['switch_to_execution']);

/** The tool `shell` by all of its names, as agents know it. */
const SHELL_NAMES = ['shell', 'bash', 'shell_exec', 'execute_bash', 'execute_cmd', 'executeCmd'];

type NamedTool = Pick<ToolFacts, 'name' | 'aliases' | 'source'>;

/**
 * True if a tool pattern matches a tool: a name or alias, a glob of names, `*`, `@builtin`, `@builtin/x`, `@mcp` (every source
 * but the built-in one), `@source`, `@source/x`, with globs after the slash. `#x` is reserved for agents and matches nothing. A
 * tool name of a known agent matches the built-in tool meant by all agents; globs do not match names of agents.
 */
export function matchesTool(pattern: string, tool: NamedTool): boolean {
  return matches(pattern, tool) || isAgentName(pattern, tool);
}

function isAgentName(pattern: string, tool: NamedTool): boolean {
  return tool.source === BUILTIN && AGENT_NAMES.meaning(unqualified(pattern)) === tool.name;
}

/** A built-in tool by its name alone. */
function unqualified(pattern: string): string {
  return pattern.startsWith(OWN) ? pattern.slice(OWN.length) : pattern;
}

function matches(pattern: string, tool: NamedTool): boolean {
  if (pattern === '*') return !BY_NAME_ONLY.has(tool.name);
  const written = parseName(pattern);
  if (written.kind === 'agent') return false;
  const names = [tool.name, ...tool.aliases];
  if (written.kind === 'plain')
    return names.includes(pattern) || (!BY_NAME_ONLY.has(tool.name) && names.some((it) => globMatches(pattern, it)));
  const { source, name = '' } = written;
  if (source !== tool.source && !(source === 'mcp' && tool.source !== BUILTIN)) return false;
  // Names without the source prefix count, too: other sources may have the same name.
  const own = [...names, ...names.flatMap((it) => (it.startsWith(`${tool.source}__`) ? it.slice(tool.source.length + 2) : []))];
  if (own.includes(name)) return true;
  return !BY_NAME_ONLY.has(tool.name) && (name === '' || own.some((it) => globMatches(name, it)));
}

/** The first of the patterns that means the tool. */
export function matchingPattern(patterns: readonly string[], tool: NamedTool): string | undefined {
  return patterns.find((pattern) => matchesTool(pattern, tool));
}

/**
 * First forbidding or checking pattern that matches the tool. Also matches a tool named `source__name` only because another
 * source has a tool of the same name: no source frees a tool of another one. `shell` matches every built-in tool that runs
 * commands, by each of its names and globs of them; `@builtin/shell` matches that tool alone. A tool name of a known agent
 * matches every built-in tool that any agent means by it, in upper or lower case.
 */
export function forbiddingPattern(patterns: readonly string[], tool: NamedTool & Partial<Pick<ToolFacts, 'pool'>>): string | undefined {
  if (patterns.length === 0) return undefined;
  const family = tool.source === BUILTIN && tool.pool === 'shell' ? patterns.find(meansShell) : undefined;
  if (family !== undefined) return family;
  if (tool.source === BUILTIN) return patterns.find((pattern) => forbidsBuiltin(pattern, tool));
  const prefix = `${tool.source}__`;
  if (!tool.name.startsWith(prefix)) return matchingPattern(patterns, tool);
  return matchingPattern(patterns, { ...tool, aliases: [...tool.aliases, tool.name.slice(prefix.length)] });
}

function forbidsBuiltin(pattern: string, tool: NamedTool): boolean {
  const aliases = [...tool.aliases, ...AGENT_NAMES.of(tool.name)];
  if (matches(pattern, { ...tool, aliases })) return true;
  const name = unqualified(pattern);
  if (AGENT_NAMES.meanings(name).includes(tool.name)) return true;
  return [tool.name, ...tool.aliases].some((it) => it.toLowerCase() === name.toLowerCase());
}

/** The dialects in which a pattern that forbids a tool is a name of it, where Toolyard has no such name. */
export function speakersOf(pattern: string, tool: NamedTool): readonly string[] {
  return tool.source === BUILTIN && !matches(pattern, tool) ? AGENT_NAMES.speakers(unqualified(pattern), tool.name) : [];
}

/** Upper and lower case are the same: agents write `Bash`, too. */
function meansShell(pattern: string): boolean {
  if (parseName(pattern).kind !== 'plain') return false;
  const lower = pattern.toLowerCase();
  return SHELL_NAMES.some((name) => name.toLowerCase() === lower || globMatches(pattern, name));
}
