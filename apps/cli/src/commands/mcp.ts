import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { givenOptions } from '../this-program.js';
import type { Add, Start } from './command-registration.js';

export function addMcp(add: Add, start: Start): void {
  add('mcp', 'an MCP server on standard input and output, for clients that start one')
    .option('--session <id>', 'the session of its calls')
    .option('--agent <id>', 'the agent of its calls')
    .option('--print-config [client]', 'print what an MCP client needs to start it, and where that belongs; without a client, list them')
    .action((flags: McpFlags, command: Command) => start((context) => mcp(context, flags, command)));
}

interface McpFlags {
  readonly session?: string;
  readonly agent?: string;
  /** The client whose configuration to print; `true` to list the clients. */
  readonly printConfig?: string | true;
}

/** An MCP server on standard input and output, until the client closes it or Ctrl-C; with `--print-config` only how to start it. */
async function mcp(context: CommandContext, flags: McpFlags, command: Command): Promise<number> {
  if (flags.printConfig !== undefined) {
    const { printConfig } = await import('../mcp/print-config.js');
    return printConfig(context, flags.printConfig, givenOptions(command, 'printConfig'));
  }
  const { config, terminal, interrupts } = context;
  const { session, agent } = flags;
  const { StdioProxy } = await import('../mcp/stdio-proxy.js');
  const callMeta = {
    ...(session === undefined ? {} : { 'io.toolyard/sessionId': session }),
    ...(agent === undefined ? {} : { 'io.toolyard/agentId': agent }),
  };
  const proxy = new StdioProxy({ url: config.url, apiKey: config.apiKey, callMeta, note: (text) => terminal.note(text) });
  await proxy.run(interrupts.signal);
  return EXIT.completed;
}
