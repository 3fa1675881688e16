import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { CODE_LANGUAGES, CODE_SYMBOL_KINDS } from '#contracts';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { EXAMPLE_SETUP } from './example-code.js';
import type { CodeOperation } from './operations/code-request.js';
import { generateCodebaseOverview, getDocumentSymbols, searchCodebaseMap } from './operations/outline.js';
import { patternSearch } from './operations/pattern-search.js';
import { findReferences, gotoDefinition } from './operations/references.js';
import { lookupSymbols, searchSymbols } from './operations/symbols.js';
import { LanguageServers } from './server/language-servers.js';
import { checkPlace } from './server/operations/place-request.js';
import { SyntaxThreads } from './syntax-threads.js';

const OPERATION_NAMES = [
  'search_symbols',
  'lookup_symbols',
  'get_document_symbols',
  'goto_definition',
  'find_references',
  'pattern_search',
  'search_codebase_map',
  'generate_codebase_overview',
] as const;
type OperationName = (typeof OPERATION_NAMES)[number];

const OPERATIONS: Readonly<Record<OperationName, CodeOperation>> = {
  search_symbols: searchSymbols,
  lookup_symbols: lookupSymbols,
  get_document_symbols: getDocumentSymbols,
  goto_definition: gotoDefinition,
  find_references: findReferences,
  pattern_search: patternSearch,
  search_codebase_map: searchCodebaseMap,
  generate_codebase_overview: generateCodebaseOverview,
};

const name = z.string().max(200);

const input = z.strictObject({
  operation: z
    .enum(OPERATION_NAMES)
    .describe(
      'search_symbols: definitions by a part of their name. lookup_symbols: definitions by exact names. get_document_symbols: outline of a file. ' +
        'goto_definition, find_references: by symbol_name, or of what stands at row and column of the file path. pattern_search: code of a form. search_codebase_map: outline of a folder. generate_codebase_overview: what is where.',
    ),
  path: z.string().min(1).default('.').describe('File or folder, relative to the workspace root.'),
  symbol_name: name.optional().describe('Name, also with the names around it: "run" or "ShellTool.run".'),
  row: z.number().int().optional().describe('Row of a place in the file path, counted from 1.'),
  column: z.number().int().optional().describe('Column of the place, counted from 1.'),
  symbols: z.array(name).min(1).max(10).optional().describe('Names for lookup_symbols.'),
  symbol_type: z.enum(CODE_SYMBOL_KINDS).optional().describe('Only definitions of this kind.'),
  exact_match: z.boolean().default(false).describe('search_symbols: the whole name, in the same case.'),
  include_source: z.boolean().default(false).describe('lookup_symbols: show the source of each definition.'),
  top_level_only: z.boolean().default(false).describe('get_document_symbols: without what is inside other definitions.'),
  pattern: z
    .string()
    .max(2_000)
    .optional()
    .describe('Code in which $NAME stands for one node and $$$NAME for any number, such as "console.log($$$ARGS)".'),
  language: z.enum(CODE_LANGUAGES).optional().describe('Only files of this language; the language of the pattern.'),
  limit: z.number().int().min(1).max(500).default(50).describe('How many results to show at most.'),
  offset: z.number().int().min(0).max(1_000_000).default(0).describe('How many results to pass over.'),
});
type Input = z.output<typeof input>;

const NEEDED: Partial<Record<OperationName, 'symbol_name' | 'pattern'>> = {
  search_symbols: 'symbol_name',
  goto_definition: 'symbol_name',
  find_references: 'symbol_name',
  pattern_search: 'pattern',
};

const BY_PLACE: ReadonlySet<OperationName> = new Set(['goto_definition', 'find_references']);

/** Code by its syntax trees, and by language servers where they are configured. */
@Tool({
  name: 'code',
  label: 'Code intelligence',
  description:
    'Finds definitions, references, outlines and code of a given form in source files, by their syntax trees: names in comments and texts are no results. ' +
    `Languages: ${CODE_LANGUAGES.join(', ')}. Rows count from 1. Files excluded by .gitignore, larger than 1 MiB or beyond the first 3,000 are left out, and the last lines in square brackets say so. ` +
    'Results by symbol_name are found by name, not by type: symbols of the same name are shown together. At row and column a language server answers by type where one is configured for the file. Use file_search for plain text.',
  input,
  tier: 'read_only',
  subjects: [{ kind: 'path', argument: 'path', access: 'read' }],
  timeoutMs: 60_000,
  argumentAliases: { path: ['file_path', 'filePath', 'dir', 'directory'], symbol_name: ['symbol', 'name', 'query'] },
  examples: [
    { title: 'Where a class is defined', arguments: { operation: 'search_symbols', symbol_name: 'Tool' }, setup: EXAMPLE_SETUP },
    { title: 'The outline of a file', arguments: { operation: 'get_document_symbols', path: 'example/app.ts' }, setup: EXAMPLE_SETUP },
    {
      title: 'The definition of what stands at a place',
      arguments: { operation: 'goto_definition', path: 'example/app.ts', row: 2, column: 3 },
      setup: EXAMPLE_SETUP,
    },
    {
      title: 'A method with its source',
      arguments: { operation: 'lookup_symbols', symbols: ['AppTool.run'], include_source: true },
      setup: EXAMPLE_SETUP,
    },
    {
      title: 'Calls with any arguments',
      arguments: { operation: 'pattern_search', pattern: 'console.log($$$ARGS)', language: 'typescript' },
      setup: EXAMPLE_SETUP,
    },
  ],
})
export class CodeTool {
  private readonly threads = new SyntaxThreads();

  constructor(@Optional() private readonly servers: LanguageServers = new LanguageServers()) {}

  check(args: Pick<Input, 'operation' | 'symbol_name' | 'pattern' | 'symbols' | 'language' | 'row' | 'column'>): void {
    checkPlace(args, false);
    const isAtPlace = args.row !== undefined && BY_PLACE.has(args.operation);
    const argument = isAtPlace ? undefined : NEEDED[args.operation];
    if (argument !== undefined && (args[argument] ?? '').trim() === '')
      throw new ToolError('invalid_arguments', `${argument} cannot be empty`);
    if (args.operation === 'lookup_symbols' && !(args.symbols ?? []).some((it) => it.trim() !== ''))
      throw new ToolError('invalid_arguments', 'symbols cannot be empty');
    if (args.operation === 'pattern_search' && args.language === undefined)
      throw new ToolError('invalid_arguments', 'pattern_search needs the language of the pattern: language');
  }

  async run(args: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    this.check(args);
    return OPERATIONS[args.operation](args, { threads: this.threads, servers: this.servers, ctx });
  }

  /** Called by Nest when the process ends. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.threads.close(), this.servers.close()]);
  }
}
