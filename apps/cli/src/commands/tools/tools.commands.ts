import { Option } from 'commander';
import { Dialect } from '#contracts';
import type { Add, Start } from '../command-registration.js';
import { LANGUAGES, newTool, type NewToolFlags } from './new-tool.js';
import { tools, type ToolsFlags } from './tools.js';

/** Commands that list tools and write new ones. */
export function addTools(add: Add, start: Start): void {
  const tool = add('tools', 'the tools that this key may use; with a name, all about that one')
    .argument('[name]')
    .option('--search <word>', 'in names and descriptions')
    .option('--session <id>', 'as this session has them')
    .option('--agent <id>', 'as this agent has them')
    .addOption(new Option('--dialect <name>', 'with the names and arguments of this dialect').choices(Dialect.options))
    .addOption(new Option('--format <format>', 'in the shape of a model API').choices(['anthropic', 'openai', 'mcp']))
    .action((name: string | undefined, flags: ToolsFlags) => start((context) => tools(context, name, flags)));
  tool
    .command('new')
    .description('write a tool in a folder of its own, with a test')
    .argument('<name>')
    .addOption(new Option('--lang <language>', 'what it is written in').choices(LANGUAGES).default('python'))
    .option('--folder <path>', 'where folder tools are', 'tools')
    .action((name: string, flags: NewToolFlags) => start((context) => newTool(context, name, flags)));
}
