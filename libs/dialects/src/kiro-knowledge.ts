import { z } from 'zod';
import { CODE_LANGUAGES, CODE_SYMBOL_KINDS } from '#contracts';
import { dialectTool, definedFields } from './dialect.js';
import { count } from './kiro-texts.js';

const symbol = z.string().max(200);

const SERVER_OPERATIONS = ['get_hover', 'get_completions', 'get_diagnostics', 'initialize_workspace'] as const;
const EDIT_OPERATIONS = ['rename_symbol', 'format', 'pattern_rewrite'] as const;

const PLACE = ['row', 'column'];
/** Arguments of each canonical tool; others are removed. One tool of the agent corresponds to three of them. */
const OF_SERVER = new Set(['operation', 'path', 'limit', ...PLACE]);
const OF_EDIT = new Set(
  ['operation', 'path', 'limit', ...PLACE].concat('new_name pattern replacement language tab_size insert_spaces dry_run'.split(' ')),
);
const NOT_OF_CODE = new Set(['new_name', 'replacement', 'tab_size', 'insert_spaces', 'dry_run']);

function codeCall(operation: string, args: Record<string, unknown>): { tool: string; args: Record<string, unknown> } {
  const only = (isTaken: (name: string) => boolean) => Object.fromEntries(Object.entries(args).filter(([name]) => isTaken(name)));
  if (SERVER_OPERATIONS.some((it) => it === operation)) {
    const { limit, ...taken } = only((name) => OF_SERVER.has(name));
    return { tool: 'language_server', args: { ...taken, ...(typeof limit === 'number' && { limit: Math.min(limit, 50) }) } };
  }
  if (EDIT_OPERATIONS.some((it) => it === operation)) return { tool: 'code_edit', args: only((name) => OF_EDIT.has(name)) };
  return { tool: 'code', args: only((name) => !NOT_OF_CODE.has(name)) };
}

const code = dialectTool({
  name: 'code',
  tool: 'code',
  means: ['code', 'code_edit', 'language_server'],
  description:
    'Code intelligence by syntax trees: symbols, outlines, patterns, an overview of the code. Where a language server is configured: definitions, references, hover, completions, diagnostics, renaming, formatting.',
  input: z.strictObject({
    operation: z.enum([
      'search_symbols',
      'lookup_symbols',
      'get_document_symbols',
      'pattern_search',
      'generate_codebase_overview',
      'search_codebase_map',
      'find_references',
      'goto_definition',
      ...SERVER_OPERATIONS,
      ...EDIT_OPERATIONS,
    ]),
    path: z.string().min(1).optional(),
    file_path: z.string().min(1).optional(),
    symbol_name: symbol.optional(),
    symbols: z.array(symbol).min(1).max(10).optional(),
    exact_match: z.boolean().optional(),
    include_source: z.boolean().optional(),
    top_level_only: z.boolean().optional(),
    pattern: z.string().max(2_000).optional(),
    language: z.enum(CODE_LANGUAGES).optional(),
    symbol_type: z.enum(CODE_SYMBOL_KINDS).optional(),
    limit: z.number().int().min(1).max(500).optional(),
    offset: count.optional(),
    row: z.number().int().optional(),
    column: z.number().int().optional(),
    new_name: symbol.optional(),
    replacement: z.string().max(10_000).optional(),
    tab_size: z.number().int().min(1).max(16).optional(),
    insert_spaces: z.boolean().optional(),
    dry_run: z.boolean().optional(),
  }),
  adapt: ({ file_path, path: folder, ...args }) => codeCall(args.operation, definedFields({ ...args, path: file_path ?? folder })),
});

const label = z.string().min(1).max(256);

const knowledge = dialectTool({
  name: 'knowledge',
  tool: 'knowledge',
  description: 'Index files and texts, and search them: show, add, remove, clear, search, update, status, cancel.',
  input: z.strictObject({
    command: z.enum(['show', 'add', 'remove', 'clear', 'search', 'update', 'status', 'cancel']),
    name: label.optional().describe('add, remove, update: name of the context.'),
    value: z.string().min(1).max(4_096).optional().describe('add: a path of the workspace, or a text.'),
    path: z.string().min(1).max(4_096).optional(),
    context_id: z.string().min(1).max(128).optional(),
    query: z.string().min(1).max(2_000).optional(),
    limit: z.number().int().min(1).max(50).optional(),
    offset: z.number().int().min(0).max(1_000).optional(),
    snippet_length: z.number().int().min(50).max(2_000).optional(),
    sort_by: z.enum(['relevance', 'path', 'name']).optional(),
    file_type: z.string().min(1).max(32).optional(),
    operation_id: z.string().min(1).max(128).optional(),
  }),
  adapt: ({ value, ...args }) => {
    // A path has no blanks; every other value is a text.
    const isPath = value !== undefined && args.path === undefined && /^[^\s]*[./][^\s]*$/.test(value);
    return { tool: 'knowledge', args: definedFields({ ...args, ...(isPath ? { path: value } : { value }) }) };
  },
});

export const KIRO_KNOWLEDGE = [code, knowledge];
