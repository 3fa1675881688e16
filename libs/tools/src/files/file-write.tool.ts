import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { changeFile, resolveFile } from '#sandbox';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { createdDiff, fileDiff } from './change/file-diff.js';

/** What is replaced is compared with the new content up to this size, where the call may read it. */
const COMPARED = { bytes: 1_048_576, hint: '' };

const input = z.strictObject({
  path: z.string().min(1).describe('File to write, relative to the workspace root.'),
  content: z.string().describe('The whole new content of the file.'),
});

/** Replaces or creates a whole file in one step. */
@Tool({
  name: 'file_write',
  label: 'Write file',
  description:
    'Writes a whole file of the workspace, as UTF-8: creates it, with missing parent folders, or replaces its content in one step. Answers "Wrote {bytes} bytes to {path}". ' +
    'Refuses paths outside the workspace, folders and symbolic links. To change a part of a file, use file_edit.',
  input,
  tier: 'side_effecting',
  subjects: [{ kind: 'path', argument: 'path', access: 'write' }],
  // A lost worker may have written: a second write could undo what another call wrote since.
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
    const bytes = Buffer.from(content, 'utf8');
    const written = await changeFile(ctx, place, { create: true }, async (stats, read) => {
      const before = stats === undefined || stats.size > COMPARED.bytes ? undefined : await read(COMPARED).then(textOf, () => undefined);
      const diff =
        stats === undefined
          ? createdDiff(displayPath, content, ctx)
          : before === undefined
            ? undefined
            : fileDiff(displayPath, before, content, ctx);
      return { bytes, value: { details: { created: stats === undefined, ...(diff && { diff }) }, before } };
    });
    return {
      content: [{ type: 'text', text: `Wrote ${bytes.length} bytes to ${displayPath}` }],
      details: { path: displayPath, bytes: bytes.length, ...written.details },
      data: { before: written.before },
    };
  }
}

/** Undefined for what is no text. */
function textOf(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined;
}
