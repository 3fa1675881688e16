import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';

export interface McpFlags {
  readonly session?: string;
  readonly agent?: string;
}

/** An MCP server on standard input and output, until the client closes it or Ctrl-C. */
export async function mcp({ config, terminal, interrupts }: CommandContext, { session, agent }: McpFlags): Promise<number> {
  const { StdioProxy } = await import('../mcp/stdio-proxy.js');
  const callMeta = {
    ...(session === undefined ? {} : { 'io.toolyard/sessionId': session }),
    ...(agent === undefined ? {} : { 'io.toolyard/agentId': agent }),
  };
  const proxy = new StdioProxy({ url: config.url, apiKey: config.apiKey, callMeta, note: (text) => terminal.note(text) });
  await proxy.run(interrupts.signal);
  return EXIT.completed;
}
