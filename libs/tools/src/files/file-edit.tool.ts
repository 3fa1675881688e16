import { z } from 'zod';
import { resolveFile } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { EXAMPLE_FILE, EXAMPLE_SETUP } from '../example-file.js';
import { splitMark } from './change/byte-order-mark.js';
import { changeText, type TextChange } from './change/change-text.js';
import { applyStep, checkStep, type EditStep } from './change/edit-steps.js';

const step = {
  old_text: z.string().min(1).optional().describe('The text to replace, exactly as it is in the file, with its spaces and line breaks.'),
  new_text: z.string().optional().describe('The text to put in its place; empty to remove it.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence instead of exactly one.'),
  first_match: z.boolean().optional().describe('Replace the first occurrence, however many there are.'),
  insert_text: z.string().min(1).optional().describe('Instead of old_text and new_text: lines to insert.'),
  insert_line: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Insert after this line; 0 is the beginning. Not given: at the end of the file.'),
};

const input = z.strictObject({
  path: z.string().min(1).describe('File to edit, relative to the workspace root. It must exist.'),
  ...step,
  edits: z.array(z.strictObject(step)).min(1).max(100).optional().describe('Instead of one edit: several, each seeing the one before.'),
});
type Input = z.output<typeof input>;

/** Replaces and inserts text; edits of one file from any number of calls are applied one after another. */
@Tool({
  name: 'file_edit',
  label: 'Edit file',
  description:
    'Replaces a piece of text in a file of the workspace (UTF-8, at most 10 MB). old_text must occur exactly once, unless replace_all or first_match is true. Answers "Replaced {a} line(s) with {b} line(s) in {path}". ' +
    'insert_text inserts lines after a line or at the end. edits makes several changes in one step: all of them or none. ' +
    'In a file with Windows line ends, line breaks of all texts mean those. When old_text is not found, the answer shows similar lines; when it occurs more than once, add lines around it. To create a file, use file_write.',
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
    insert_line: ['insertLine'],
  },
  examples: [
    {
      title: 'Replace a word everywhere',
      arguments: { path: EXAMPLE_FILE, old_text: 'colour', new_text: 'color', replace_all: true },
      setup: EXAMPLE_SETUP,
    },
    { title: 'Add a line at the end', arguments: { path: EXAMPLE_FILE, insert_text: 'It is a light blue.' }, setup: EXAMPLE_SETUP },
    {
      title: 'Two changes in one step',
      arguments: {
        path: EXAMPLE_FILE,
        edits: [
          { old_text: '# Notes', new_text: '# Decisions' },
          { insert_text: 'Last change: today', insert_line: 1 },
        ],
      },
      setup: [
        { tool: 'file_write', arguments: { path: EXAMPLE_FILE, content: '# Notes\n\nTODO: choose a colour\nThe colour is blue.\n' } },
      ],
    },
  ],
})
export class FileEditTool {
  check({ path: _path, edits, ...single }: Input): void {
    if (edits === undefined) return checkStep(single);
    if (Object.values(single).some((value) => value !== undefined))
      throw new ToolError('invalid_arguments', 'Give either edits or one edit, not both.');
    for (const [index, edit] of edits.entries()) checkStep(edit, `Edit ${index + 1}: `);
  }

  async run(args: Input, ctx: ToolContext): Promise<ToolOutput> {
    const place = resolveFile(ctx.workspace, args.path, 'write');
    this.check(args);
    const { value, diff, before } = await changeText(ctx, place, (text, path) => {
      const { mark, body } = splitMark(text);
      const edited = applyAll(body, args, path, ctx);
      return { ...edited, text: mark + splitMark(edited.text).body };
    });
    return {
      content: [{ type: 'text', text: value.summary }],
      details: { path: place.path.displayPath, ...value.facts, ...(diff && { diff }) },
      data: { before },
    };
  }
}

interface Edited {
  readonly summary: string;
  readonly facts: Readonly<Record<string, number>>;
}

function applyAll(text: string, { edits, path: _path, ...single }: Input, path: string, ctx: ToolContext): TextChange<Edited> {
  if (edits === undefined) {
    const { text: edited, occurrences, summary } = applyStep(text, single, path, ctx);
    return { text: edited, value: { summary, facts: { occurrences } } };
  }
  const edited = edits.reduce((before, edit, index) => applyNumbered(before, edit, index + 1, path, ctx), text);
  return { text: edited, value: { summary: `Made ${edits.length} edit(s) in ${path}`, facts: { edits: edits.length } } };
}

function applyNumbered(text: string, edit: EditStep, number: number, path: string, ctx: ToolContext): string {
  try {
    return applyStep(text, edit, path, ctx).text;
  } catch (error) {
    if (error instanceof ToolError) throw new ToolError(error.code, `Edit ${number}: ${error.message}`, error.options);
    throw error;
  }
}
