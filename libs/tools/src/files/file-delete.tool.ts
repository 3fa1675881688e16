import { z } from 'zod';
import { removeEntry, resolveFile } from '#sandbox';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { EXAMPLE_FILE, EXAMPLE_SETUP } from '../example-file.js';

const input = z.strictObject({
  path: z.string().min(1).describe('File or folder to delete, relative to the workspace root.'),
});

@Tool({
  name: 'file_delete',
  label: 'Delete file',
  description:
    'Deletes a file of the workspace, or a folder with all that is in it. Answers "Deleted file {path}" or "Deleted directory {path} ({n} entries, itself included)". A symbolic link is deleted itself, never its target. ' +
    'Refuses the workspace root, paths outside of the workspace, and folders with files in them that this call may not touch.',
  input,
  tier: 'side_effecting',
  subjects: [{ kind: 'path', argument: 'path', access: 'write' }],
  // A lost worker may have deleted the file: a second run could delete one that another call created since.
  effect: 'once',
  timeoutMs: 30_000,
  aliases: ['delete_file'],
  argumentAliases: { path: ['file_path', 'filePath', 'filename', 'file'] },
  rawArgument: 'path',
  examples: [
    { title: 'A file', arguments: { path: EXAMPLE_FILE }, setup: EXAMPLE_SETUP },
    { title: 'A folder', arguments: { path: 'example' }, setup: EXAMPLE_SETUP },
  ],
})
export class FileDeleteTool {
  async run({ path }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const place = resolveFile(ctx.workspace, path, 'write');
    const { displayPath } = place.path;
    const removed = await removeEntry(ctx, place);
    const entries = removed.entries === 1 ? 'it was empty' : `${removed.entries} entries, itself included`;
    const text = removed.kind === 'file' ? `Deleted file ${displayPath}` : `Deleted directory ${displayPath} (${entries})`;
    return { content: [{ type: 'text', text }], details: { path: displayPath, ...removed } };
  }
}
