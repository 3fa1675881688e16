import { readFileSync } from 'node:fs';
import type { Dialect, ToolDescriptor } from '#contracts';
import { ToolyardError } from '#client';
import { coerceArguments, isPositional, readArguments, requiredArgument, type CallArguments } from './call-arguments.js';
import type { CommandContext } from './command-context.js';
import { unknownTool } from './unknown-tool.js';

/**
 * Reads the schema if a word has no name or a value is `loose`. A key without the scope `read` sends texts.
 *
 * @throws UsageError for an unknown tool, and for a word without a name, where the tool has not exactly one required argument
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
  // Checked before the words are parsed: a wrong tool name is not a fault of the words.
  if (isPositional(words) && (await describe()) === undefined) {
    const known = await catalog(client, { dialect });
    if (known.length > 0) throw unknownTool(tool, known);
  }
  const named = isPositional(words) ? [`${requiredArgument(tool, await describe(), words)}=${first}`, ...rest] : words;
  const written = readArguments(named, readStdin);
  return written.loose.length === 0 ? written.values : coerceArguments(written, await describe());
}

async function toolOf(client: CommandContext['client'], tool: string, dialect: Dialect | undefined): Promise<ToolDescriptor | undefined> {
  const tools = await catalog(client, { q: tool.slice(0, 256), dialect });
  return tools.find(({ name, aliases }) => name === tool || aliases.includes(tool));
}

/** Empty for a key that may not read it. */
async function catalog(client: CommandContext['client'], query: { readonly q?: string; readonly dialect: Dialect | undefined }) {
  return client.tools.list(query).catch((error: unknown) => {
    if (error instanceof ToolyardError && error.code === 'forbidden') return [];
    throw error;
  });
}

function readStdin(): string {
  return readFileSync(0, 'utf8');
}
