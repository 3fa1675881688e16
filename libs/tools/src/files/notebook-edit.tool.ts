import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { resolveFile } from '#sandbox';
import { closestNames, Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { changeText } from './change/change-text.js';
import { splitMark } from './change/byte-order-mark.js';
import { cellName, isNotebook, parseNotebook, type Notebook, type NotebookCell } from './notebook.js';
import { NotebookText } from './notebook-text.js';

const EXAMPLE_NOTEBOOK = 'example/first.ipynb';
const EXAMPLE_CONTENT = {
  cells: [{ cell_type: 'code', execution_count: null, id: 'c1', metadata: {}, outputs: [], source: ['print(1)'] }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
};

const input = z.strictObject({
  path: z.string().min(1).describe('Notebook (.ipynb), relative to the workspace root.'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).default('replace').describe('What to do with the cell.'),
  cell_id: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Id of the cell, or "cell-0" for the first where cells have no ids. insert puts the new cell behind it; not given: at the end. The others need it where there are several cells.',
    ),
  new_source: z.string().optional().describe('The new content of the cell. Required, except to delete.'),
  cell_type: z.enum(['code', 'markdown']).optional().describe('Kind of the cell. Not given: as it is, and code for a new cell.'),
});
type Input = z.output<typeof input>;

@Tool({
  name: 'notebook_edit',
  label: 'Edit notebook',
  description:
    'Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb) of the workspace, at most 10 MB. file_read shows the cells with their ids. A cell that is replaced loses its outputs; all other bytes of the file stay. ' +
    'Answers which cell was changed. A cell id that is not there is answered with similar ones.',
  input,
  tier: 'side_effecting',
  subjects: [{ kind: 'path', argument: 'path', access: 'write' }],
  effect: 'once',
  timeoutMs: 30_000,
  aliases: ['NotebookEdit'],
  argumentAliases: { path: ['notebook_path', 'file_path'], cell_id: ['cellId'], new_source: ['newSource', 'source'] },
  examples: [
    {
      title: 'A new cell behind the first',
      arguments: { path: EXAMPLE_NOTEBOOK, edit_mode: 'insert', cell_id: 'c1', cell_type: 'markdown', new_source: '# Next' },
      setup: [{ tool: 'file_write', arguments: { path: EXAMPLE_NOTEBOOK, content: JSON.stringify(EXAMPLE_CONTENT) } }],
    },
  ],
})
export class NotebookEditTool {
  check({ path, edit_mode, new_source }: Input): void {
    if (!isNotebook(path)) throw new ToolError('invalid_arguments', 'File must be a Jupyter notebook (.ipynb file).');
    if (edit_mode !== 'delete' && new_source === undefined)
      throw new ToolError('invalid_arguments', 'new_source is required for insert and replace edits');
  }

  async run(args: Input, ctx: ToolContext): Promise<ToolOutput> {
    const place = resolveFile(ctx.workspace, args.path, 'write');
    this.check(args);
    const { value, diff, ...data } = await changeText(ctx, place, (text, path) => {
      const { mark, body } = splitMark(text);
      const { text: edited, ...changed } = editedText(body, parseNotebook(body, path), args);
      return { text: mark + edited, value: changed };
    });
    const verb = { replace: 'Replaced', insert: 'Inserted', delete: 'Deleted' }[args.edit_mode];
    const { displayPath } = place.path;
    return {
      content: [{ type: 'text', text: `${verb} cell ${value.cellId} (${value.index}) of ${displayPath}` }],
      details: { path: displayPath, editMode: args.edit_mode, ...value, ...(diff && { diff }) },
      data,
    };
  }
}

interface Edited {
  readonly text: string;
  readonly cellId: string;
  readonly cellType: string;
  readonly index: number;
}

function editedText(text: string, notebook: Notebook, { edit_mode, cell_id, new_source = '', cell_type }: Input): Edited {
  const { cells } = notebook;
  const at = edit_mode === 'insert' && cell_id === undefined ? cells.length - 1 : placeOf(cells, cell_id);
  const writer = new NotebookText(text);
  const cell = cells[at];
  // Source as a list of lines, in Jupyter's form.
  const source = new_source === '' ? [] : new_source.split(/(?<=\n)/);
  const facts = { cellId: cell?.id ?? `cell-${at}`, cellType: cell?.cell_type ?? 'code', index: at };
  switch (edit_mode) {
    case 'insert': {
      const made = newCell(source, cell_type ?? 'code', notebook);
      return { text: writer.insert(at + 1, made), cellId: made.id ?? `cell-${at + 1}`, cellType: made.cell_type, index: at + 1 };
    }
    case 'delete':
      return { ...facts, text: writer.delete(at) };
    case 'replace':
      return { ...facts, cellType: cell_type ?? facts.cellType, text: writer.change(at, replacedParts(cell, source, cell_type)) };
    default:
      return edit_mode satisfies never;
  }
}

/** @throws ToolError for a cell that is not there, with the names of similar ones */
function placeOf(cells: readonly NotebookCell[], wanted: string | undefined): number {
  if (cells.length === 0) throw new ToolError('tool_failed', 'Notebook has no cells to edit');
  const names = cells.map(cellName);
  if (wanted === undefined) {
    if (cells.length === 1) return 0;
    throw new ToolError('tool_failed', `cell_id is required for replace and delete. ${listed(names)}`);
  }
  const at = names.indexOf(wanted) === -1 ? cells.findIndex((_cell, index) => wanted === `cell-${index}`) : names.indexOf(wanted);
  const same = names.filter((name) => name === wanted).length;
  if (same > 1)
    throw new ToolError(
      'tool_failed',
      `${same} cells have the id ${wanted.slice(0, 100)}. Name the cell by its place: "cell-0" is the first.`,
    );
  if (at !== -1) return at;
  const near = closestNames(wanted, names, 3);
  const hint = near.length > 0 ? `Did you mean ${near.join(', ')}?` : listed(names);
  throw new ToolError('tool_failed', `Cell not found: ${wanted.slice(0, 100)}. ${hint}`);
}

function listed(names: readonly string[]): string {
  return `Its cells are ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', ...' : ''}.`;
}

/** New cell, with its parts in Jupyter's order. Cells have ids since format 4.5. */
function newCell(source: readonly string[], cellType: 'code' | 'markdown', { nbformat, nbformat_minor }: Notebook) {
  const id = nbformat > 4 || nbformat_minor >= 5 ? { id: randomBytes(4).toString('hex') } : {};
  const isCode = cellType === 'code';
  return {
    cell_type: cellType,
    ...(isCode && { execution_count: null }),
    ...id,
    metadata: {},
    ...(isCode && { outputs: [] }),
    source,
  };
}

/** Outputs are those of the old source. Only another kind of cell gets or loses parts. */
function replacedParts(cell: NotebookCell | undefined, source: readonly string[], cellType?: 'code' | 'markdown'): Record<string, unknown> {
  const kind = cellType ?? cell?.cell_type ?? 'code';
  const isOther = kind !== cell?.cell_type;
  const has = (name: string): boolean => isOther || (cell !== undefined && name in cell);
  return {
    cell_type: kind,
    source,
    ...(has('execution_count') && { execution_count: kind === 'code' ? null : undefined }),
    ...(has('outputs') && { outputs: kind === 'code' ? [] : undefined }),
    // Pictures of a text, which code cannot have.
    ...(isOther && kind === 'code' && { attachments: undefined }),
  };
}
