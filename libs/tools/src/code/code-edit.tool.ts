import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { CODE_LANGUAGES } from '#contracts';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { formatFile } from './edits/format-file.js';
import { checkPlaceholders, patternRewrite } from './edits/pattern-rewrite.js';
import { renameSymbol } from './edits/rename-symbol.js';
import { EXAMPLE_SETUP } from './example-code.js';
import { LanguageServers } from './server/language-servers.js';
import { checkPlace } from './server/operations/place-request.js';
import { SyntaxThreads } from './syntax-threads.js';

const input = z.strictObject({
  operation: z
    .enum(['pattern_rewrite', 'rename_symbol', 'format'])
    .describe(
      'pattern_rewrite: replace code of a form. rename_symbol: rename what stands at a place, wherever it is used. format: format a file.',
    ),
  path: z.string().min(1).default('.').describe('File; for pattern_rewrite also a folder. Relative to the workspace root.'),
  row: z.number().int().optional().describe('rename_symbol: row of the place, counted from 1.'),
  column: z.number().int().optional().describe('rename_symbol: column of the place, counted from 1.'),
  new_name: z.string().max(200).optional().describe('rename_symbol: the new name.'),
  pattern: z
    .string()
    .max(2_000)
    .optional()
    .describe('pattern_rewrite: code in which $NAME stands for one node and $$$NAME for any number.'),
  replacement: z
    .string()
    .max(10_000)
    .optional()
    .describe('pattern_rewrite: code to put there, with the same placeholders; empty to remove it.'),
  language: z.enum(CODE_LANGUAGES).optional().describe('pattern_rewrite: language of the pattern.'),
  limit: z.number().int().min(1).max(500).default(100).describe('pattern_rewrite: how many matches to replace at most.'),
  tab_size: z.number().int().min(1).max(16).default(4).describe('format: columns of an indent.'),
  insert_spaces: z.boolean().default(true).describe('format: indent by spaces.'),
  dry_run: z.boolean().default(true).describe('Only show what would be changed.'),
});
type Input = z.output<typeof input>;

/** Changes of code by its syntax, and by language servers where they are configured. */
@Tool({
  name: 'code_edit',
  label: 'Change code',
  description:
    'Changes code in several files in one step: all changes or none. As long as dry_run is not false it changes nothing and shows what it would change. ' +
    'pattern_rewrite works by syntax trees; rename_symbol and format need a language server for the file and say so where none is configured. ' +
    'Rows and columns count from 1. Files excluded by .gitignore or larger than 1 MiB are left as they are; at most 500 files are changed. Use file_edit for plain text.',
  input,
  tier: 'side_effecting',
  subjects: [{ kind: 'path', argument: 'path', access: 'write' }],
  effect: 'once',
  timeoutMs: 60_000,
  argumentAliases: { path: ['file_path', 'filePath'], dry_run: ['dryRun'], new_name: ['newName'] },
  examples: [
    {
      title: 'See what a replacement would change',
      arguments: {
        operation: 'pattern_rewrite',
        pattern: 'console.log($$$ARGS)',
        replacement: 'log.debug($$$ARGS)',
        language: 'typescript',
      },
      setup: EXAMPLE_SETUP,
    },
    {
      title: 'Change it',
      arguments: {
        operation: 'pattern_rewrite',
        path: 'example',
        pattern: 'console.log($$$ARGS)',
        replacement: 'log.debug($$$ARGS)',
        language: 'typescript',
        dry_run: false,
      },
      setup: EXAMPLE_SETUP,
    },
  ],
})
export class CodeEditTool {
  private readonly threads = new SyntaxThreads();

  constructor(@Optional() private readonly servers: LanguageServers = new LanguageServers()) {}

  check({ operation, path, row, column, new_name, pattern, replacement, language }: Input): void {
    if (operation === 'pattern_rewrite') {
      const present = { pattern: pattern?.trim() === '' ? undefined : pattern, replacement, language };
      for (const [name, value] of Object.entries(present)) if (value === undefined) throw missing(name, operation);
      return checkPlaceholders(pattern ?? '', replacement ?? '');
    }
    if (path === '.') throw missing('path', operation);
    if (operation === 'format') return;
    checkPlace({ row, column }, true);
    if (new_name === undefined || new_name.trim() === '') throw missing('new_name', operation);
  }

  async run(args: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    this.check(args);
    const {
      operation,
      path,
      dry_run: dryRun,
      row = 1,
      column = 1,
      new_name: newName = '',
      pattern = '',
      replacement = '',
      language,
    } = args;
    const run = { servers: this.servers, ctx };
    switch (operation) {
      case 'pattern_rewrite':
        if (language === undefined) throw missing('language', operation);
        return patternRewrite({ pattern, replacement, language, path, limit: args.limit, dryRun }, { threads: this.threads, ctx });
      case 'rename_symbol':
        return renameSymbol({ path, row, column, newName, dryRun }, run);
      case 'format':
        return formatFile({ path, tabSize: args.tab_size, insertSpaces: args.insert_spaces, dryRun }, run);
    }
  }

  /** Called by Nest when the process ends. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.threads.close(), this.servers.close()]);
  }
}

function missing(argument: string, operation: string): ToolError {
  return new ToolError('invalid_arguments', `Missing '${argument}' for ${operation}`);
}
