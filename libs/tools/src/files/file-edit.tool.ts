import { z } from 'zod';
import { type Edit, applyEdit, changeFile, decodeText, resolveFile } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { EXAMPLE_FILE, EXAMPLE_SETUP } from '../example-file.js';

const LIMIT = { bytes: 10 * 1_048_576, hint: 'Edit smaller files.' };

const input = z.strictObject({
  path: z.string().min(1).describe('File to edit, relative to the workspace root. It must exist.'),
  old_text: z.string().min(1).describe('The text to replace, exactly as it is in the file, with its spaces and line breaks.'),
  new_text: z.string().describe('The text to put in its place; empty to remove it.'),
  replace_all: z.boolean().default(false).describe('Replace every occurrence instead of exactly one.'),
});

/** Replaces a piece of text; edits of one file from any number of calls are applied one after another. */
@Tool({
  name: 'file_edit',
  label: 'Edit file',
  description:
    'Replaces a piece of text in a file of the workspace (UTF-8, at most 10 MB). old_text must occur exactly once, unless replace_all is true. Answers "Replaced {a} line(s) with {b} line(s) in {path}". ' +
    'In a file with Windows line ends, line breaks of both texts mean those. When old_text is not found, the answer shows similar lines; when it occurs more than once, add lines around it. To create a file, use file_write.',
  input,
  tier: 'side_effecting',
  subjects: [{ kind: 'path', argument: 'path', access: 'write' }],
  effect: 'once',
  timeoutMs: 30_000,
  aliases: ['edit_file'],
  argumentAliases: {
    path: ['file_path', 'filePath', 'filename', 'file'],
    old_text: ['old_string', 'oldText', 'old_str', 'oldStr'],
    new_text: ['new_string', 'newText', 'new_str', 'newStr'],
    replace_all: ['replaceAll'],
  },
  examples: [
    {
      title: 'Replace a word everywhere',
      arguments: { path: EXAMPLE_FILE, old_text: 'colour', new_text: 'color', replace_all: true },
      setup: EXAMPLE_SETUP,
    },
  ],
})
export class FileEditTool {
  async run({ path, ...edit }: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const place = resolveFile(ctx.workspace, path, 'write');
    const { displayPath } = place.path;
    if (edit.old_text === edit.new_text) throw new ToolError('invalid_arguments', 'No changes (old_text == new_text)');
    const occurrences = await changeFile(ctx, place, { create: false }, async (stats, read) => {
      if (!stats) throw new ToolError('tool_failed', `File not found: ${displayPath}. Use file_write to create it.`);
      const edited = applyEdit(decodeText(await read(LIMIT), displayPath), edit, displayPath, ctx);
      return { bytes: Buffer.from(edited.text, 'utf8'), value: edited.occurrences };
    });
    return { content: [{ type: 'text', text: summary(edit, occurrences, displayPath) }], details: { path: displayPath, occurrences } };
  }
}

function summary({ old_text, new_text, replace_all }: Edit, occurrences: number, path: string): string {
  if (replace_all) return `Replaced ${occurrences} occurrence(s) in ${path}`;
  return `Replaced ${lineCount(old_text)} line(s) with ${lineCount(new_text)} line(s) in ${path}`;
}

function lineCount(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}
