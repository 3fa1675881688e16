import { z } from 'zod';
import { changeFile, decodeText, readWorkspaceFile, removeEntry, resolveFile, type ResolvedFile } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { EXAMPLE_FILE, EXAMPLE_SETUP } from '../example-file.js';
import { fileDiff, type FileDiff } from './change/file-diff.js';
import { parseFilePatches, patchedText, type FilePatch } from './change/parse-patch.js';

const LIMIT = { bytes: 2 * 1_048_576, hint: 'Use file_edit for larger files.' };

const input = z.strictObject({
  patch: z
    .string()
    .min(1)
    .max(1_000_000)
    .describe('Unified diff, such as "git diff" prints it; /dev/null for a file that is created or deleted.'),
  paths: z
    .array(z.string().min(1))
    .min(1)
    .max(50)
    .describe('Every file that the patch changes, creates or deletes, relative to the workspace root.'),
});

const EXAMPLE_PATCH = `--- a/${EXAMPLE_FILE}\n+++ b/${EXAMPLE_FILE}\n@@ -1,4 +1,4 @@\n # Notes\n \n-TODO: choose a colour\n+DONE: choose a colour\n The colour is blue.\n`;

/** Several files in one step: all changes or none. */
@Tool({
  name: 'file_patch',
  label: 'Apply patch',
  description:
    'Applies a unified diff to files of the workspace (UTF-8, at most 2 MB each): all of it, or nothing when a hunk does not fit. Line numbers may be off; context lines must match. ' +
    'paths must name exactly the files of the patch. Files are created and deleted by /dev/null; renames are not supported. Answers one line for each file.',
  input,
  tier: 'side_effecting',
  subjects: [{ kind: 'path', argument: 'paths', access: 'write' }],
  effect: 'once',
  timeoutMs: 30_000,
  aliases: ['apply_patch'],
  argumentAliases: { patch: ['diff'], paths: ['files'] },
  examples: [{ title: 'Change a line', arguments: { patch: EXAMPLE_PATCH, paths: [EXAMPLE_FILE] }, setup: EXAMPLE_SETUP }],
})
export class FilePatchTool {
  check({ patch, paths }: z.output<typeof input>): void {
    parseFilePatches(patch, paths);
  }

  async run({ patch, paths }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const patches = parseFilePatches(patch, paths);
    const targets = patches.map((it) => ({ ...it, place: resolveFile(ctx.workspace, it.path, 'write') }));
    // Nothing is written before every hunk is known to fit.
    for (const target of targets) await rehearse(target, ctx);
    const done: Done[] = [];
    try {
      for (const target of targets) done.push(await apply(target, ctx));
    } catch (error) {
      for (const change of done.reverse()) await change.undo();
      throw error;
    }
    const lines = done.map(({ verb, place }) => `${verb} ${place.path.displayPath}`);
    const diffs = done.flatMap(({ diff }) => (diff === undefined ? [] : [diff]));
    return { content: [{ type: 'text', text: lines.join('\n') }], details: { files: done.length, diffs } };
  }
}

interface Target extends FilePatch {
  readonly place: ResolvedFile;
}

interface Done {
  readonly place: ResolvedFile;
  readonly verb: 'Changed' | 'Created' | 'Deleted';
  readonly diff?: FileDiff;
  /** Puts back what was there, where it can. */
  undo(): Promise<void>;
}

async function rehearse(target: Target, ctx: ToolContext): Promise<void> {
  if (target.kind === 'create') return void patchedText('', target, ctx);
  const { bytes } = await readWorkspaceFile(target.place, LIMIT, ctx.signal);
  resultOf(decodeText(bytes, target.path), target, ctx);
}

function resultOf(before: string, target: Target, ctx: ToolContext): string {
  const after = patchedText(before, target, ctx);
  if (target.kind === 'delete' && after !== '')
    throw new ToolError('tool_failed', `The patch deletes ${target.path}, which has more in it than the patch says; no file was changed.`);
  return after;
}

async function apply(target: Target, ctx: ToolContext): Promise<Done> {
  const { place, kind } = target;
  const { before, after } = await changeFile(ctx, place, { create: kind === 'create' }, async (stats, read) => {
    if (kind === 'create' && stats !== undefined)
      throw new ToolError('tool_failed', `The patch creates ${target.path}, which is there already.`);
    const text = stats === undefined ? '' : decodeText(await read(LIMIT), target.path);
    const result = resultOf(text, target, ctx);
    // What is deleted stays as it is until it is gone.
    return { bytes: Buffer.from(kind === 'delete' ? text : result, 'utf8'), value: { before: text, after: result } };
  });
  const unsignalled = { ...ctx, signal: new AbortController().signal };
  const restore = async (): Promise<void> => {
    if (kind === 'create') await removeEntry(unsignalled, place);
    else await changeFile(unsignalled, place, { create: true }, async () => ({ bytes: Buffer.from(before, 'utf8'), value: undefined }));
  };
  if (kind === 'delete') await removeEntry(ctx, place);
  const diff = fileDiff(place.path.displayPath, before, after, ctx);
  const verb = ({ change: 'Changed', create: 'Created', delete: 'Deleted' } as const)[kind];
  return {
    place,
    verb,
    ...(diff && { diff }),
    undo: () => restore().catch(() => ctx.log.warn('a patch was not undone', { path: target.path })),
  };
}
