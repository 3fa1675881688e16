import { z } from 'zod';
import { changeFile, readWorkspaceFile, resolveFile } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { EXAMPLE_FILE, EXAMPLE_SETUP } from '../example-file.js';

const LIMIT = { bytes: 50 * 1_048_576, hint: 'Copy larger files with a command.' };

const input = z.strictObject({
  source: z.string().min(1).describe('File to copy: relative to the workspace root, or an absolute path in a shared folder.'),
  destination: z.string().min(1).describe('Where the copy goes, with the name of the file. Missing folders are made.'),
  overwrite: z.boolean().default(false).describe('Replace a file that is there already.'),
});

/** Reads the source to its end before the destination is opened: never both at once. */
@Tool({
  name: 'file_copy',
  label: 'Copy file',
  description:
    'Copies a file (at most 50 MB) with its permissions within the workspace, or between the workspace and shared folders, as far as this call may read the source and write the destination. Answers "Copied {n} bytes to {path}". ' +
    'Refuses folders, paths elsewhere, and a destination that exists unless overwrite is true.',
  input,
  tier: 'side_effecting',
  subjects: [
    { kind: 'path', argument: 'source', access: 'read' },
    { kind: 'path', argument: 'destination', access: 'write' },
  ],
  effect: 'once',
  timeoutMs: 30_000,
  aliases: ['copy_file', 'vault_copy', 'vault_copyto'],
  argumentAliases: { source: ['source_path', 'from'], destination: ['destination_path', 'to'] },
  examples: [{ title: 'A copy beside it', arguments: { source: EXAMPLE_FILE, destination: 'example/copy.md' }, setup: EXAMPLE_SETUP }],
})
export class FileCopyTool {
  async run({ source, destination, overwrite }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const from = resolveFile(ctx.workspace, source, 'read');
    const to = resolveFile(ctx.workspace, destination, 'write');
    const { displayPath } = to.path;
    const { bytes, stats } = await readWorkspaceFile(from, LIMIT, ctx.signal);
    const created = await changeFile(ctx, to, { create: true }, async (there) => {
      if (there !== undefined && there.ino === stats.ino && there.dev === stats.dev)
        throw new ToolError('invalid_arguments', `${displayPath} is the source itself.`);
      if (there !== undefined && !overwrite)
        throw new ToolError('tool_failed', `${displayPath} exists already. Set overwrite to replace it, or choose another name.`);
      return { bytes, value: there === undefined, mode: stats.mode };
    });
    return {
      content: [{ type: 'text', text: `Copied ${bytes.length} bytes to ${displayPath}` }],
      details: { source: from.path.displayPath, path: displayPath, bytes: bytes.length, created },
    };
  }
}
