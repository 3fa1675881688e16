import { z } from 'zod';
import { CODE_LANGUAGES, CODE_SYMBOL_KINDS } from '#contracts';
import { dialectTool, given } from './dialect.js';
import { count } from './kiro-texts.js';

const symbol = z.string().max(200);

const code = dialectTool({
  name: 'code',
  tool: 'code',
  description: 'Code intelligence by syntax trees: symbols, outlines, patterns, an overview of the code.',
  input: z.strictObject({
    operation: z.enum([
      'search_symbols',
      'lookup_symbols',
      'get_document_symbols',
      'pattern_search',
      'generate_codebase_overview',
      'search_codebase_map',
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
  }),
  adapt: ({ file_path, path: folder, ...args }) => ({ tool: 'code', args: given({ ...args, path: file_path ?? folder }) }),
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
    return { tool: 'knowledge', args: given({ ...args, ...(isPath ? { path: value } : { value }) }) };
  },
});

export const KIRO_KNOWLEDGE = [code, knowledge];
