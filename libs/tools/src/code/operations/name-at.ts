import { decodeText, readWorkspaceFile, resolveFile } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';

const LIMIT = { bytes: 1_048_576, hint: 'Such files are not parsed: use file_search.' };
const NAME = /[\p{ID_Start}_$][\p{ID_Continue}$]*/gu;

/** The name that stands at a place of a file. @throws ToolError where there is none */
export async function nameAt(path: string, { row, column }: { row: number; column: number }, ctx: ToolContext): Promise<string> {
  const { bytes } = await readWorkspaceFile(resolveFile(ctx.workspace, path, 'read'), LIMIT, ctx.signal);
  const rows = decodeText(bytes, path).split('\n');
  const line = rows[row - 1];
  if (line === undefined)
    throw new ToolError('invalid_arguments', `row ${row} is beyond the end of ${path}, which has ${rows.length} rows`);
  for (const { 0: name, index } of line.matchAll(NAME)) if (index <= column - 1 && column - 1 <= index + name.length) return name;
  throw new ToolError('invalid_arguments', `No name stands at ${path}:${row}:${column}. Row and column count from 1.`);
}
