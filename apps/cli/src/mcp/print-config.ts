import { portableVariables, type CliConfig } from '../cli.config.js';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { table } from '../terminal/table.js';
import { thisProgram } from '../this-program.js';
import { UsageError } from '../usage-error.js';
import { CLIENTS, type McpServer } from './clients.js';

/**
 * Prints the block that makes an MCP client start `toolyard mcp` with `options`: the block to stdout, its place and how the client
 * gets the API key to stderr. Never prints the key. Without a name (`true`), lists the clients.
 */
export function printConfig(context: CommandContext, client: string | true, options: readonly string[]): number {
  const { terminal } = context;
  if (client === true) {
    const rows = Object.entries(CLIENTS).map(([word, { name, file }]) => [word, name, file]);
    for (const row of table(rows, Infinity)) terminal.line(row);
    return EXIT.completed;
  }
  const known = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
  if (known === undefined)
    throw new UsageError(`--print-config: Expected one of ${Object.keys(CLIENTS).join(', ')}, got ${JSON.stringify(client)}`);
  const server = serverOf(context.config, options);
  terminal.note(`For ${known.name}: ${known.file}`);
  if (server.needsKey) terminal.note(`The API key is not printed: ${known.key}.`);
  terminal.data(known.block(server));
  return EXIT.completed;
}

function serverOf(config: CliConfig, options: readonly string[]): McpServer {
  const [command, file] = thisProgram();
  return { command, args: [file, 'mcp', ...options], env: portableVariables(config), needsKey: config.dataFolder === undefined };
}
