import { readFileSync } from 'node:fs';
import type { Dialect, ToolDescriptor } from '#contracts';
import { ToolyardError } from '#client';
import { coerceArguments, isPositional, readArguments, requiredArgument, type CallArguments } from './call-arguments.js';
import type { CommandContext } from './command-context.js';

/**
 * Reads the schema if a word has no name or a value is `loose`. A key without the scope `read` sends texts.
 *
 * @throws UsageError for a word without a name, where the tool has not exactly one required argument
 */
export async function argumentsOf(
  { client }: Pick<CommandContext, 'client'>,
  tool: string,
  words: readonly string[],
  dialect?: Dialect,
): Promise<CallArguments> {
  let descriptor: Promise<ToolDescriptor | undefined> | undefined;
  const describe = () => (descriptor ??= toolOf(client, tool, dialect));
  const [first, ...rest] = words;
  const named = isPositional(words) ? [`${requiredArgument(tool, await describe(), words)}=${first}`, ...rest] : words;
  const written = readArguments(named, readStdin);
  return written.loose.length === 0 ? written.values : coerceArguments(written, await describe());
}

async function toolOf(client: CommandContext['client'], tool: string, dialect: Dialect | undefined): Promise<ToolDescriptor | undefined> {
  const tools = await client.tools.list({ q: tool.slice(0, 256), dialect }).catch((error: unknown) => {
    if (error instanceof ToolyardError && error.code === 'forbidden') return [];
    throw error;
  });
  return tools.find(({ name, aliases }) => name === tool || aliases.includes(tool));
}

function readStdin(): string {
  return readFileSync(0, 'utf8');
}
