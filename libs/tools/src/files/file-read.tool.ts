import { z } from 'zod';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { EXAMPLE_FILE, EXAMPLE_SETUP } from '../example-file.js';
import { PdfReader } from './read/pdf-reader.js';
import { readFile } from './read/read-file.js';
import { runOperations } from './read/read-operations.js';

const offset = z.number().int().min(1).optional().describe('First line to read; the first line of a file is 1.');
const limit = z.number().int().min(1).optional().describe('How many lines to read.');
const line_numbers = z.boolean().optional().describe('Show lines as "   1 | text", below a header with their number.');
const raw = z.boolean().optional().describe('Show a notebook as its JSON source instead of its cells.');

const operation = z.strictObject({
  mode: z
    .enum(['lines', 'directory', 'image'])
    .default('lines')
    .describe('lines: a file. directory: a long listing. image: an image file.'),
  path: z.string().min(1).describe('File or folder, relative to the workspace root.'),
  offset,
  limit,
  line_numbers,
  raw,
  max_depth: z.number().int().min(1).max(50).optional().describe('How deep a listing goes; 1, the default, is the folder itself.'),
  exclude: z.array(z.string().min(1).max(200)).max(50).optional().describe('Globs of names or paths that a listing leaves out.'),
});

const input = z.strictObject({
  path: z.string().min(1).optional().describe('File to read, relative to the workspace root. Required without operations.'),
  offset,
  limit,
  line_numbers,
  raw,
  operations: z.array(operation).min(1).max(20).optional().describe('Instead of path: several files and folders in one call.'),
});

/** Files whole or by lines, images, and folders, one or several in one call. */
@Tool({
  name: 'file_read',
  label: 'Read file',
  description:
    'Reads a file of the workspace. Text (UTF-8, at most 10 MB) comes back as it is; with offset or limit, only those lines come, below a header "[Lines a-b of n]". ' +
    'Images (jpg, png, gif, webp, bmp; at most 20 MB) come back as images, PDF files (at most 20 MB) as the text of their pages, notebooks (.ipynb) as their cells. ' +
    'With operations instead of path, up to 20 files, folders and images come back in one call, one item each; when one of them fails, the call fails and names each failure. ' +
    'Other binary files, folders without operations and paths outside the workspace are refused. Long output is cut: read long files in parts.',
  input,
  tier: 'read_only',
  subjects: [
    { kind: 'path', argument: 'path', access: 'read' },
    { kind: 'path', argument: 'operations', field: 'path', access: 'read' },
  ],
  timeoutMs: 30_000,
  aliases: ['read_file', 'read', 'fs_read', 'fsRead'],
  argumentAliases: { path: ['file_path', 'filePath', 'filename', 'file'], offset: ['start_line'], limit: ['max_lines', 'num_lines'] },
  rawArgument: 'path',
  examples: [
    { title: 'A whole file', arguments: { path: EXAMPLE_FILE }, setup: EXAMPLE_SETUP },
    { title: 'Lines 3 and 4', arguments: { path: EXAMPLE_FILE, offset: 3, limit: 2 }, setup: EXAMPLE_SETUP },
    {
      title: 'A file with line numbers, and its folder',
      arguments: {
        operations: [
          { path: EXAMPLE_FILE, line_numbers: true },
          { mode: 'directory', path: 'example' },
        ],
      },
      setup: EXAMPLE_SETUP,
    },
  ],
})
export class FileReadTool {
  private readonly pdf = new PdfReader();

  check({ path, operations }: Pick<z.output<typeof input>, 'path' | 'operations'>): void {
    if (path === undefined && operations === undefined)
      throw new ToolError('invalid_arguments', "Missing 'path' parameter: give the path of a file, or operations for several.");
    if (path !== undefined && operations !== undefined)
      throw new ToolError('invalid_arguments', 'Give either path or operations, not both.');
  }

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    this.check(args);
    if (args.operations !== undefined) return runOperations(args.operations, this.pdf, ctx);
    const { content, details, data } = await readFile({ ...args, path: args.path ?? '' }, this.pdf, ctx);
    return { content: [content], details, ...(data && { data: { ...data } }) };
  }

  /** Called by Nest when the process ends. */
  async onApplicationShutdown(): Promise<void> {
    await this.pdf.close();
  }
}
