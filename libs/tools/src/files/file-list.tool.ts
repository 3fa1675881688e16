import { z } from 'zod';
import { resolveFile, listTree } from '#sandbox';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { globFiles } from '../search/glob-files.js';
import { checkGlob, searchTarget, displayPath } from '../search/search-target.js';

const MOST_ENTRIES = 1_000;

const input = z.strictObject({
  path: z.string().min(1).default('.').describe('Folder to list, relative to the workspace root.'),
  pattern: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe('List only files whose name matches this glob, such as "*.ts" (also ignored ones).'),
  max_depth: z.number().int().min(1).max(50).default(1).describe('How deep to go; 1 is the folder itself.'),
});

/** Lists a folder. */
@Tool({
  name: 'file_list',
  label: 'List files',
  description:
    'Lists a folder of the workspace, sorted, one entry a line, folders with a "/" at the end; with max_depth also the folders in it, by their paths. With pattern, only matching files are listed. ' +
    'Folders such as .git and node_modules are shown but not entered. At most 1,000 entries; the last line says when there are more. An empty folder answers "no entries found".',
  input,
  tier: 'read_only',
  subjects: [{ kind: 'path', argument: 'path', access: 'read' }],
  timeoutMs: 30_000,
  aliases: ['list_files', 'ls'],
  argumentAliases: { path: ['dir', 'directory', 'dir_path'], max_depth: ['maxDepth', 'depth'] },
  rawArgument: 'path',
  examples: [
    { title: 'The workspace', arguments: {} },
    { title: 'Markdown files, three levels deep', arguments: { path: '.', pattern: '*.md', max_depth: 3 } },
  ],
})
export class FileListTool {
  async run({ path, pattern, max_depth }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const { entries, total } =
      pattern === undefined ? await everything(path, max_depth, ctx) : await matching(path, pattern, max_depth, ctx);
    const truncated = total > entries.length;
    const lines = truncated ? [...entries, `... (${total} entries, showing first ${entries.length})`] : entries;
    return { content: [{ type: 'text', text: lines.join('\n') || 'no entries found' }], details: { total, truncated }, data: { entries } };
  }
}

async function everything(path: string, maxDepth: number, ctx: ToolContext): Promise<{ entries: string[]; total: number }> {
  const place = resolveFile(ctx.workspace, path, 'read');
  return listTree(place, { maxDepth, most: MOST_ENTRIES }, ctx.signal);
}

async function matching(path: string, pattern: string, maxDepth: number, ctx: ToolContext): Promise<{ entries: string[]; total: number }> {
  checkGlob(pattern, 'pattern');
  const target = await searchTarget(ctx.workspace, path);
  const prefix = target.prefix + (target.argument === './' ? '' : `${displayPath(target.argument)}/`);
  const { files, total } = await globFiles({ pattern, target, maxDepth, most: MOST_ENTRIES, ignored: true, sort: 'path' }, ctx);
  return { entries: files.map((file) => file.slice(prefix.length)), total };
}
