import { z } from 'zod';
import { Tool, type ToolContext, type ToolOutput } from '#tool-sdk';
import { EXAMPLE_FILE, EXAMPLE_SETUP } from '../example-file.js';
import { applyPlan } from './patch/apply-plan.js';
import { vacatedBy } from './patch/file-change.js';
import { planChange } from './patch/patch-plan.js';
import { changedPaths, readPatch } from './patch/read-patch.js';

const input = z.strictObject({
  patch: z
    .string()
    .min(1)
    .max(1_000_000)
    .describe('Unified diff, such as "git diff" prints it, or text from "*** Begin Patch" to "*** End Patch".'),
  paths: z
    .array(z.string().min(1))
    .min(1)
    .max(100)
    .optional()
    .describe('Every file that the patch changes, creates, deletes, renames or copies. Not given: those in it.'),
});
type Input = z.output<typeof input>;

const EXAMPLE_PATCH = `--- a/${EXAMPLE_FILE}\n+++ b/${EXAMPLE_FILE}\n@@ -1,4 +1,4 @@\n # Notes\n \n-TODO: choose a colour\n+DONE: choose a colour\n The colour is blue.\n`;
const EXAMPLE_SECTIONS = `*** Begin Patch\n*** Update File: ${EXAMPLE_FILE}\n@@ # Notes\n-TODO: choose a colour\n+DONE: choose a colour\n*** Add File: example/new.md\n+# New\n*** End Patch`;

/** Several files in one step: all changes or none. */
@Tool({
  name: 'file_patch',
  label: 'Apply patch',
  description:
    'Applies a patch to files of the workspace (UTF-8, at most 2 MB each): all of it, or nothing when a part does not fit. It is a unified diff, or has sections ' +
    '"*** Add File: path", "*** Update File: path" (with "*** Move to: path") and "*** Delete File: path" between "*** Begin Patch" and "*** End Patch". ' +
    'Line numbers and counts may be off or missing where the lines fit in one place only; context lines must match. Of git it also takes renames, copies and "new file mode 100755"; no binary files and links. ' +
    'Answers one line for each file.',
  input,
  tier: 'side_effecting',
  subjects: [{ kind: 'path', argument: 'paths', access: 'write' }],
  effect: 'once',
  timeoutMs: 30_000,
  aliases: ['apply_patch'],
  argumentAliases: { patch: ['diff', 'input'], paths: ['files'] },
  rawArgument: 'patch',
  examples: [
    { title: 'Change a line', arguments: { patch: EXAMPLE_PATCH, paths: [EXAMPLE_FILE] }, setup: EXAMPLE_SETUP },
    { title: 'Change a file and create another', arguments: { patch: EXAMPLE_SECTIONS }, setup: EXAMPLE_SETUP },
  ],
})
export class FilePatchTool {
  check({ patch, paths }: Input): void {
    readPatch(patch, paths);
  }

  /** Adds `paths` from the patch, for evaluation by policy. */
  complete({ patch, paths }: Input): Input {
    return { patch, paths: paths ?? [...changedPaths(readPatch(patch))] };
  }

  async run({ patch, paths }: Input, ctx: ToolContext): Promise<ToolOutput> {
    // Plans all changes before writing, so that every hunk is known to fit.
    const plan = [];
    const changes = readPatch(patch, paths);
    const gone = new Set(changes.flatMap((change) => vacatedBy(change) ?? []));
    for (const change of changes) plan.push(await planChange(change, ctx, gone));
    const applied = await applyPlan(plan, ctx);
    const diffs = applied.flatMap(({ diff }) => (diff === undefined ? [] : [diff]));
    const text = applied.map(({ summary }) => summary).join('\n');
    return { content: [{ type: 'text', text }], details: { files: applied.length, diffs } };
  }
}
