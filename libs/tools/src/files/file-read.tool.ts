import { z } from 'zod';
import { cutToBytes, decodeText, resolveFile, imageType, readWorkspaceFile, tooLarge } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { FILE_READ_DIALECTS, type FileReadDialect } from './file-read-dialects.js';
import { EXAMPLE_FILE, EXAMPLE_SETUP } from '../example-file.js';

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
    { title: 'A whole file', arguments: { path: EXAMPLE_FILE }, setup: EXAMPLE_SETUP },
    { title: 'Lines 3 and 4', arguments: { path: EXAMPLE_FILE, offset: 3, limit: 2 }, setup: EXAMPLE_SETUP },
  ],
})
export class FileReadTool {
  async run({ path, offset, limit }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const place = resolveFile(ctx.workspace, path, 'read');
    const parsed = place.path;
    const dialect = FILE_READ_DIALECTS[ctx.profile ?? 'core'];
    const inPart = offset !== undefined || limit !== undefined;
    const { bytes } = await readWorkspaceFile(place, FILE_READ_DIALECTS.core.image, ctx.signal);
    const mimeType = imageType(bytes);
    if (mimeType !== undefined) {
      if (bytes.length > dialect.image.bytes) throw tooLarge(parsed.displayPath, bytes.length, dialect.image);
      return {
        content: [{ type: 'image', data: bytes.toString('base64'), mimeType }],
        details: { path: parsed.displayPath, bytes: bytes.length, mimeType },
      };
    }
    const most = inPart ? dialect.text : (dialect.whole ?? dialect.text);
    if (bytes.length > most.bytes) throw tooLarge(parsed.displayPath, bytes.length, most);
    const text = decodeText(bytes, parsed.displayPath);
    const isCut = dialect.cut !== undefined && bytes.length > dialect.cut.bytes;
    if (!inPart && !isCut) return whole(text, parsed.displayPath);
    return part({ text, path: parsed.displayPath, offset: offset ?? 1, limit, cut: dialect.cut }, ctx);
  }
}

function whole(text: string, path: string): ToolOutput {
  return { content: [{ type: 'text', text }], details: { path, totalLines: linesOf(text).length } };
}

interface Part {
  readonly text: string;
  readonly path: string;
  readonly offset: number;
  readonly limit: number | undefined;
  readonly cut: FileReadDialect['cut'];
}

function part({ text, path, offset, limit = Number.POSITIVE_INFINITY, cut }: Part, ctx: ToolContext): ToolOutput {
  const lines = linesOf(text);
  if (offset > lines.length && !(offset === 1 && lines.length === 0)) {
    throw new ToolError('invalid_arguments', `offset ${offset} is past the end: ${path} has ${lines.length} lines.`);
  }
  const asked = lines.slice(offset - 1, offset - 1 + limit);
  const shown = cut === undefined ? asked : fitting(asked, cut.bytes);
  const last = offset - 1 + shown.length;
  const details = { path, startLine: offset, numLines: shown.length, totalLines: lines.length };
  const content = shown.join('');
  if (cut !== undefined && (shown.length < asked.length || Buffer.byteLength(content) > cut.bytes)) {
    // A line of its own may be longer than all that may come: then it is cut, and whether half a secret is left is asked.
    const kept = shown.length > 1 ? content : ctx.redact(cutToBytes(content, cut.bytes), true);
    return { content: [{ type: 'text', text: kept + cut.note(offset, last, lines.length) }], details };
  }
  const header = shown.length === lines.length ? '' : `[Lines ${offset}-${last} of ${lines.length}]\n`;
  return { content: [{ type: 'text', text: header + content }], details };
}

/** The first lines that fit together, and one at least. */
function fitting(lines: readonly string[], bytes: number): string[] {
  let left = bytes;
  const over = lines.findIndex((line) => (left -= Buffer.byteLength(line)) < 0);
  return lines.slice(0, over === -1 ? undefined : Math.max(over, 1));
}

/** With their line ends. A line end at the very end starts no further line. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}
