import { z } from 'zod';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { globFiles } from './glob-files.js';
import { checkGlob, searchTarget, unreachableNote } from './search-target.js';
import { EXAMPLE_SETUP } from '../example-file.js';

const input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(1_000)
    .describe(
      'Glob such as "**/*.ts" or "src/**/{a,b}.json"; without "/" it matches file names at any depth. Relative to the workspace root.',
    ),
  path: z.string().min(1).default('.').describe('Folder to search in, relative to the workspace root.'),
  limit: z.number().int().min(1).max(1_000).default(200).describe('How many files to show at most.'),
  max_depth: z.number().int().min(1).max(50).default(30).describe('How deep to go; 1 is the folder itself.'),
});

/** Files by name. */
@Tool({
  name: 'glob',
  label: 'Find files',
  description:
    'Finds files of the workspace by a glob pattern: paths from the workspace root, one a line, newest first, 200 unless limit says otherwise; the last line says how many there are when some are not shown. ' +
    'Files excluded by .gitignore and everything in .git are left out; hidden files are included. No file: "No files found".',
  input,
  tier: 'read_only',
  subjects: [{ kind: 'path', argument: 'path', access: 'read' }],
  timeoutMs: 30_000,
  aliases: ['glob_search'],
  argumentAliases: { path: ['dir', 'directory'], max_depth: ['maxDepth'], pattern: ['glob_pattern'] },
  rawArgument: 'pattern',
  examples: [{ title: 'All Markdown files', arguments: { pattern: '**/*.md' }, setup: EXAMPLE_SETUP }],
})
export class GlobTool {
  check({ pattern }: z.output<typeof input>): void {
    checkGlob(pattern, 'pattern');
  }

  async run({ pattern, path, limit, max_depth }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    checkGlob(pattern, 'pattern');
    const target = await searchTarget(ctx.workspace, path);
    if (!target.directory) throw new ToolError('tool_failed', `Path is not a directory: ${target.displayPath}`);
    const { files, total, ignoredMatches } = await globFiles(
      { pattern, target, maxDepth: max_depth, most: limit, ignored: false, sort: 'newest' },
      ctx,
    );
    const truncated = total > files.length;
    const lines = truncated ? [...files, `... (${total} files, showing the ${files.length} newest)`] : files;
    return {
      content: [{ type: 'text', text: lines.join('\n') || noFiles(pattern, ignoredMatches) }],
      details: { files, totalFiles: total, truncated },
    };
  }
}

function noFiles(pattern: string, ignoredMatches: boolean): string {
  const ignored = ignoredMatches ? '\nFiles that match are excluded by .gitignore: file_list shows them.' : '';
  return `No files found for pattern: ${pattern}${unreachableNote(pattern, 'pattern')}${ignored}`;
}
