import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { changeFile, resolveFile } from '#sandbox';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { splitMark } from './change/byte-order-mark.js';
import { createdDiff, fileDiff } from './change/file-diff.js';

/** Largest file whose old content is read, where the call may read it; a smaller limit holds for the comparison with the new one. */
const READ = { bytes: 10 * 1_048_576, hint: '' };
const COMPARED_BYTES = 1_048_576;

const input = z.strictObject({
  path: z.string().min(1).describe('File to write, relative to the workspace root.'),
  content: z.string().describe('The whole new content of the file.'),
});

/** Replaces or creates a whole file in one step. */
@Tool({
  name: 'file_write',
  label: 'Write file',
  description:
    'Writes a whole file of the workspace, as UTF-8: creates it, with missing parent folders, or replaces its content in one step. A byte order mark that is there stays. Answers "Wrote {bytes} bytes to {path}". ' +
    'Refuses paths outside the workspace, folders and symbolic links. To change a part of a file, use file_edit.',
  input,
  tier: 'side_effecting',
  subjects: [{ kind: 'path', argument: 'path', access: 'write' }],
  // A lost worker may have written the file: a second write could undo a later change of another call.
  effect: 'once',
  timeoutMs: 30_000,
  aliases: ['write_file', 'write', 'fs_write', 'fsWrite'],
  argumentAliases: { path: ['file_path', 'filePath', 'filename', 'file'], content: ['contents', 'file_text', 'text'] },
  examples: [{ title: 'A new file', arguments: { path: 'notes/today.md', content: '# Today\n' } }],
})
export class FileWriteTool {
  async run({ path, content }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const place = resolveFile(ctx.workspace, path, 'write');
    const { displayPath } = place.path;
    const { bytes, before, ...details } = await changeFile(ctx, place, { create: true }, async (stats, read) => {
      const there = stats === undefined ? undefined : await read(READ).then(textOf, () => undefined);
      // Models do not see the mark that they read.
      const { mark } = splitMark(there ?? '');
      const after = mark === '' ? content : mark + splitMark(content).body;
      const compared = stats !== undefined && stats.size <= COMPARED_BYTES ? there : undefined;
      const diff = stats === undefined ? createdDiff(displayPath, after, ctx) : compared && fileDiff(displayPath, compared, after, ctx);
      const bytes = Buffer.from(after, 'utf8');
      return { bytes, value: { bytes: bytes.length, before: compared, created: stats === undefined, ...(diff && { diff }) } };
    });
    return {
      content: [{ type: 'text', text: `Wrote ${bytes} bytes to ${displayPath}` }],
      details: { path: displayPath, bytes, ...details },
      data: { before },
    };
  }
}

/** Undefined for a file that is not text. */
function textOf(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined;
}
