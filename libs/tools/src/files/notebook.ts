import { z } from 'zod';
import { ToolError } from '#tool-sdk';
import { splitMark } from './change/byte-order-mark.js';
import { strictJson } from './notebook-json.js';

/** Text in a notebook is one text, or its lines. */
const Source = z.union([z.string(), z.array(z.string())]).transform((source) => (typeof source === 'string' ? source : source.join('')));

const Output = z.looseObject({
  text: Source.nullish(),
  data: z.record(z.string(), z.unknown()).nullish(),
  ename: z.string().nullish(),
  evalue: z.string().nullish(),
});

/** Programs write null for absent fields, and numbers as ids. */
const Cell = z.looseObject({
  cell_type: z.string(),
  id: z.union([z.string(), z.number().transform(String)]).nullish(),
  source: Source.nullish().transform((source) => source ?? ''),
  outputs: z.array(Output).nullish(),
});
export type NotebookCell = z.output<typeof Cell>;

/** A Jupyter notebook of format 4. Fields that are not named here are kept. */
const Notebook = z.looseObject({
  cells: z.array(Cell),
  nbformat: z.number().int().default(4),
  nbformat_minor: z
    .number()
    .int()
    .nullish()
    .transform((minor) => minor ?? 0),
});
export type Notebook = z.output<typeof Notebook>;

const Older = z.looseObject({ nbformat: z.number().int() });

export function isNotebook(path: string): boolean {
  return path.toLowerCase().endsWith('.ipynb');
}

/** @throws ToolError for a text that is no notebook */
export function parseNotebook(text: string, shown: string): Notebook {
  let value: unknown;
  try {
    value = JSON.parse(strictJson(splitMark(text).body));
  } catch {
    throw new ToolError('tool_failed', `Cannot read ${shown} as a notebook: it is not valid JSON. Read it with raw to see its source.`);
  }
  const parsed = Notebook.safeParse(value);
  // Without cells, only its format shows that it is a notebook.
  const isOne = parsed.success && (parsed.data.cells.length > 0 || Older.safeParse(value).success);
  if (isOne && parsed.data.nbformat >= 4) return parsed.data;
  const old = Older.safeParse(value);
  const place = parsed.error?.issues[0]?.path.join('/');
  const older =
    old.success && old.data.nbformat < 4 ? ` but of ${old.data.nbformat}; "jupyter nbconvert --to notebook --inplace" converts it` : '';
  throw new ToolError(
    'tool_failed',
    `Cannot read ${shown} as a notebook: it is not of format 4${older}${older === '' && place !== undefined ? ` at ${place}` : ''}. Read it with raw to see its source.`,
  );
}

/** Name of a cell: its id, or its position if it has none. */
export function cellName({ id }: NotebookCell, index: number): string {
  return id ?? `cell-${index}`;
}

/** Cells with their outputs, each below a line with its place, name and kind. */
export function notebookText({ cells }: Notebook): string {
  return cells
    .map((cell, index) => {
      const outputs = (cell.outputs ?? []).map((output) => `[output]\n${outputText(output)}\n`);
      return [`[cell ${index} ${cellName(cell, index)} ${cell.cell_type}]\n${cell.source}\n`, ...outputs].join('');
    })
    .join('');
}

function outputText({ text, data, ename, evalue }: z.output<typeof Output>): string {
  if (typeof text === 'string') return text.trimEnd();
  if (typeof ename === 'string') return `${ename}: ${evalue ?? ''}`;
  const plain = Source.safeParse(data?.['text/plain']);
  return plain.success ? plain.data.trimEnd() : `(${Object.keys(data ?? {}).join(', ') || 'empty'})`;
}
