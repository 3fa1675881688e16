import type { ModelTool } from '#client';
import type { Dialect, ToolDescriptor } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { safeText } from '../../terminal/safe-text.js';
import { table } from '../../terminal/table.js';
import { unknownTool } from '../../unknown-tool.js';

export interface ToolsFlags {
  readonly search?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly dialect?: Dialect;
  readonly format?: 'anthropic' | 'openai' | 'mcp';
}

/** The tools this key may use; with a name, all about that one. */
export async function tools({ client, terminal, json }: CommandContext, name: string | undefined, flags: ToolsFlags): Promise<number> {
  const { search, session, agent, dialect, format } = flags;
  const query = { q: name ?? search, sessionId: session, agentId: agent, dialect };
  const found = name === undefined && format !== undefined ? [] : await client.tools.list(query);
  const named = name === undefined ? undefined : toolOfName(name, found);
  if (name !== undefined && named === undefined) throw unknownTool(name, await client.tools.list({ ...query, q: undefined }));
  if (format !== undefined) {
    for (const tool of await client.tools.forModel(format, query))
      if (named === undefined || isCalled(tool, named.name)) terminal.json(tool);
    return 0;
  }
  if (named !== undefined) {
    if (json) terminal.json(named);
    else describe(named, terminal);
    return 0;
  }
  if (json) for (const tool of found) terminal.json(tool);
  else {
    const rows = found.map(({ name: called, pool, tier, available, description }) => [
      called,
      pool,
      tier,
      available.ok ? description : `(not now: ${available.reason ?? 'unavailable'}) ${description}`,
    ]);
    for (const line of table(rows, terminal.width)) terminal.line(line);
  }
  return 0;
}

function toolOfName(name: string, found: readonly ToolDescriptor[]): ToolDescriptor | undefined {
  return found.find((candidate) => candidate.name === name || candidate.aliases.includes(name));
}

/** The formats of model APIs have the name on top or in `function`. */
function isCalled(tool: ModelTool, name: string): boolean {
  const inner = tool['function'];
  return tool['name'] === name || (typeof inner === 'object' && inner !== null && 'name' in inner && inner.name === name);
}

function describe(tool: ToolDescriptor, terminal: CommandContext['terminal']): void {
  const rows = [
    ['name', tool.name],
    ['also called', tool.aliases.join(', ')],
    ['tier', `${tool.tier}, effect ${tool.effect}`],
    ['pool', tool.pool],
    ['source', tool.source],
    ['available', tool.available.ok ? 'yes' : `no: ${tool.available.reason ?? ''}`],
  ];
  for (const line of table(
    rows.filter((row) => row[1] !== ''),
    terminal.width,
  ))
    terminal.line(line);
  terminal.line();
  terminal.data(`${tool.description}\n\n`);
  terminal.data(`${JSON.stringify(tool.input, null, 2)}\n`);
  for (const { title, arguments: args } of tool.examples) {
    terminal.line();
    terminal.data(`${title}:\n  toolyard call ${tool.name} '${safeText(JSON.stringify(args)).replaceAll("'", String.raw`'\''`)}'\n`);
  }
}
