import { z } from 'zod';
import { Tool } from '../tool.decorator.js';
import { ToolFailure, type ToolContext, type ToolOutput } from '../tool.port.js';
import { decodeText, imageType } from '../workspace/file-kind.js';
import { readWorkspaceFile, tooLarge } from '../workspace/workspace-file.js';
import { filePlace } from '../workspace/file-place.js';

const MIB = 1_048_576;
const TEXT_LIMIT = { bytes: 10 * MIB, hint: 'Use file_search to find the lines you need.' };
const IMAGE_LIMIT = { bytes: 20 * MIB, hint: 'Only images may have that size.' };

const input = z.strictObject({
  path: z.string().min(1).describe('File to read, relative to the workspace root.'),
  offset: z.number().int().min(1).optional().describe('First line to read; the first line of a file is 1.'),
  limit: z.number().int().min(1).optional().describe('How many lines to read.'),
});

/** A text file whole or by lines, or an image. */
@Tool({
  name: 'file_read',
  label: 'Read file',
  description:
    'Reads a file of the workspace. Text (UTF-8, at most 10 MB) comes back as it is; with offset or limit, only those lines come, below a header "[Lines a-b of n]". ' +
    'Images (jpg, png, gif, webp, bmp; at most 20 MB) come back as images. Other binary files, folders and paths outside the workspace are refused. Long output is cut: read long files in parts.',
  input,
  tier: 'read_only',
  subjects: [{ kind: 'path', argument: 'path', access: 'read' }],
  timeoutMs: 30_000,
  aliases: ['read_file', 'read', 'fs_read', 'fsRead'],
  argumentAliases: { path: ['file_path', 'filePath', 'filename', 'file'], offset: ['start_line'], limit: ['max_lines', 'num_lines'] },
  rawArgument: 'path',
  examples: [
    { title: 'A whole file', arguments: { path: 'README.md' } },
    { title: 'Lines 11 to 20', arguments: { path: 'src/app.ts', offset: 11, limit: 10 } },
  ],
})
export class FileReadTool {
  async run({ path, offset, limit }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const { root, path: parsed } = filePlace(ctx.workspace, path, 'read');
    const { bytes } = await readWorkspaceFile(root, parsed, IMAGE_LIMIT, ctx.signal);
    const mimeType = imageType(bytes);
    if (mimeType !== undefined) {
      return {
        content: [{ type: 'image', data: bytes.toString('base64'), mimeType }],
        details: { path: parsed.shown, bytes: bytes.length, mimeType },
      };
    }
    if (bytes.length > TEXT_LIMIT.bytes) throw tooLarge(parsed.shown, bytes.length, TEXT_LIMIT);
    const text = decodeText(bytes, parsed.shown);
    return offset === undefined && limit === undefined ? whole(text, parsed.shown) : part(text, parsed.shown, offset ?? 1, limit);
  }
}

function whole(text: string, path: string): ToolOutput {
  return { content: [{ type: 'text', text }], details: { path, totalLines: linesOf(text).length } };
}

function part(text: string, path: string, offset: number, limit = Number.POSITIVE_INFINITY): ToolOutput {
  const lines = linesOf(text);
  if (offset > lines.length && !(offset === 1 && lines.length === 0)) {
    throw new ToolFailure('invalid_arguments', `offset ${offset} is past the end: ${path} has ${lines.length} lines.`);
  }
  const shown = lines.slice(offset - 1, offset - 1 + limit);
  const last = offset - 1 + shown.length;
  const header = shown.length === lines.length ? '' : `[Lines ${offset}-${last} of ${lines.length}]\n`;
  return {
    content: [{ type: 'text', text: header + shown.join('') }],
    details: { path, startLine: offset, numLines: shown.length, totalLines: lines.length },
  };
}

/** With their line ends. A line end at the very end starts no further line. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}
