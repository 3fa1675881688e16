import { z } from 'zod';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { LARGEST_SEARCHED_BYTES } from './ripgrep.js';
import { hasIgnoredFiles, searchContent, searchCounts, type SearchRequest } from './search-files.js';
import { checkGlob, searchTarget, unreachableNote } from './search-target.js';
import { EXAMPLE_SETUP } from '../example-file.js';
import { PatternError, syntaxFault } from '#patterns';

/**
 * Errors in the syntax of both ripgrep and RE2, the only ones known without running ripgrep: each of the two accepts some
 * patterns that the other rejects, and those are left to the search itself.
 */
const SURELY_WRONG =
  /missing closing [)\]]|unexpected \)|missing argument to repetition operator|trailing backslash|Perl syntax: `\(\?[=!]|named capture: `\(\?<[=!]|escape sequence: `\\[1-9]`/;
const NOT_THERE = /`\(\?<?[=!]|`\\[1-9]`/;

/** Throws a ToolError for a text or regular expression that no search could run. */
function checkQuery(query: string, literal: boolean): void {
  if (query.includes('\0')) throw new ToolError('invalid_arguments', 'Invalid query: it has a NUL character in it.');
  if (literal) return;
  const fault = faultOf(query);
  if (fault === undefined || !SURELY_WRONG.test(fault)) return;
  const hint = NOT_THERE.test(fault) ? 'look-around and back-references are not available' : 'with literal, query is taken as plain text';
  throw new ToolError('invalid_arguments', `The regular expression is not valid: ${fault.slice(0, 300)}; ${hint}.`);
}

/** @throws ToolError for one that is too large to be run at all */
function faultOf(query: string): string | undefined {
  try {
    return syntaxFault(query);
  } catch (error) {
    if (error instanceof PatternError) throw new ToolError('invalid_arguments', `The regular expression is too large: ${error.message}.`);
    throw error;
  }
}

const lineCount = z.number().int().min(0).max(20).optional();

const input = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(10_000)
    .describe('Regular expression (Rust syntax: no look-around, no back-references), or plain text with literal.'),
  path: z.string().min(1).default('.').describe('Folder or file to search in, relative to the workspace root.'),
  include: z.string().min(1).max(1_000).optional().describe('Only files that match this glob, such as "*.ts".'),
  literal: z.boolean().default(false).describe('Take query as plain text.'),
  case_sensitive: z.boolean().default(false).describe('Tell upper and lower case apart.'),
  context: z.number().int().min(0).max(20).default(0).describe('Lines to show before and after each match (content mode).'),
  before: lineCount.describe('Lines to show before each match instead of context.'),
  after: lineCount.describe('Lines to show after each match instead of context.'),
  multiline: z.boolean().optional().describe('A match may go over several lines, and "." matches line breaks.'),
  type: z
    .string()
    .regex(/^[a-z0-9+_-]{1,40}$/)
    .optional()
    .describe('Only files of a type that ripgrep knows, such as "ts", "py" or "rust"; not with include.'),
  max_depth: z.number().int().min(1).max(50).optional().describe('How deep to go; 1 is the folder itself.'),
  max_per_file: z.number().int().min(1).max(1_000).optional().describe('How many matching lines of one file count at most.'),
  offset: z.number().int().min(0).optional().describe('Pass over so many results.'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .default('content')
    .describe('Matching lines, names of files, or matching lines counted by file.'),
  max_results: z.number().int().min(1).max(1_000).default(200).describe('How many matching lines (or files) to show at most.'),
});

/** Text in files, by ripgrep. */
@Tool({
  name: 'file_search',
  label: 'Search in files',
  description:
    'Searches the text files of the workspace. content: "{path}:{line}:{text}" for each matching line ("{path}-{line}-{text}" for context); files_with_matches: one path a line; count: "{path}:{count}". ' +
    'Files excluded by .gitignore, everything in .git, binary files and files over 10 MB are left out; hidden files are included. At most 200 results unless max_results says otherwise, lines are cut at 500 characters; ' +
    'the last line says when there is more. A larger file that is named is refused, and so is an expression that compiles to more than 10 MB. No result: "No matches". A wrong regular expression is explained.',
  input,
  tier: 'read_only',
  subjects: [{ kind: 'path', argument: 'path', access: 'read' }],
  timeoutMs: 30_000,
  aliases: ['search', 'grep', 'grep_search'],
  argumentAliases: {
    query: ['pattern', 'regex', 'q'],
    path: ['dir', 'directory'],
    include: ['glob'],
    max_results: ['head_limit', 'maxResults'],
    case_sensitive: ['caseSensitive'],
    context: ['-C'],
    before: ['-B'],
    after: ['-A'],
  },
  rawArgument: 'query',
  examples: [
    { title: 'Lines that match a pattern', arguments: { query: 'colou?r', include: '*.md' }, setup: EXAMPLE_SETUP },
    {
      title: 'Files with a text',
      arguments: { query: 'TODO', literal: true, case_sensitive: true, output_mode: 'files_with_matches' },
      setup: EXAMPLE_SETUP,
    },
  ],
})
export class FileSearchTool {
  check({ query, literal, include, type }: z.output<typeof input>): void {
    checkQuery(query, literal);
    if (include !== undefined && type !== undefined) throw new ToolError('invalid_arguments', 'Give either include or type, not both.');
    if (include !== undefined) checkGlob(include, 'include');
  }

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    // Other errors of an expression are reported by ripgrep.
    this.check({ ...args, literal: true });
    const request: SearchRequest = { ...args, target: await searchTarget(ctx.workspace, args.path, LARGEST_SEARCHED_BYTES) };
    const { lines, found, results, truncated } =
      args.output_mode === 'content' ? await searchContent(request, ctx) : await searchCounts(request, ctx);
    const what = args.output_mode === 'content' ? 'matching lines' : 'files';
    const shown = truncated ? [...lines, `... (showing the first ${results} ${what}, there are more)`] : lines;
    const text = shown.length === 0 ? await noMatches(request, ctx) : shown.join('\n');
    return { content: [{ type: 'text', text }], details: { results, truncated }, data: { found } };
  }
}

async function noMatches(request: SearchRequest, ctx: ToolContext): Promise<string> {
  const { include, offset = 0 } = request;
  const unreachable = include === undefined ? '' : unreachableNote(include, 'include');
  const ignored = unreachable === '' && offset === 0 && (await hasIgnoredFiles(request, ctx));
  return `No matches${unreachable}${ignored ? '\nFiles that .gitignore excludes were not searched. To search one, name it as path.' : ''}`;
}
