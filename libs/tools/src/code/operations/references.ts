import { type ToolContext, ToolError } from '#tool-sdk';
import { definitionsAt, referencesAt } from '../server/operations/places.js';
import { SourceScan } from '../source-files.js';
import { occurrencesJob } from '../syntax-threads.js';
import { type CodeOperation, type CodeRequest, requireArgument, splitName } from './code-request.js';
import { textOutput } from '../text-output.js';
import { definitionsOf, symbolLine } from './symbols.js';
import { decodeText, readWorkspaceFile, resolveFile } from '#sandbox';

const LIMIT = { bytes: 1_048_576, hint: 'Such files are not parsed: use file_search.' };
const NAME = /[\p{ID_Start}_$][\p{ID_Continue}$]*/gu;

/** The name that stands at a place of a file. @throws ToolError where there is none */
async function nameAt(path: string, { row, column }: { row: number; column: number }, ctx: ToolContext): Promise<string> {
  const { bytes } = await readWorkspaceFile(resolveFile(ctx.workspace, path, 'read'), LIMIT, ctx.signal);
  const rows = decodeText(bytes, path).split('\n');
  const line = rows[row - 1];
  if (line === undefined)
    throw new ToolError('invalid_arguments', `row ${row} is beyond the end of ${path}, which has ${rows.length} rows`);
  for (const { 0: name, index } of line.matchAll(NAME)) if (index <= column - 1 && column - 1 <= index + name.length) return name;
  throw new ToolError('invalid_arguments', `No name stands at ${path}:${row}:${column}. Row and column count from 1.`);
}

const BY_NAME = 'found by name, without types: other symbols of this name are among them';

/** Operation by place if a language server is configured for the file; otherwise by the name at that place. */
function atPlaceOrByName(atPlace: typeof definitionsAt, byName: CodeOperation): CodeOperation {
  return async (request, run) => {
    const { row, column } = request;
    if (row === undefined || column === undefined) return byName(request, run);
    if (run.servers.serverFor(request.path) !== undefined) return atPlace({ ...request, row, column }, run);
    return byName(await namedRequest(request, { row, column }, run.ctx), run);
  };
}

async function namedRequest(request: CodeRequest, place: { row: number; column: number }, ctx: ToolContext): Promise<CodeRequest> {
  return { ...request, symbol_name: await nameAt(request.path, place, ctx), path: '.' };
}

/** Definitions of exactly this name. */
const definitionsByName: CodeOperation = async (request, { threads, ctx }) => {
  const wanted = requireArgument(request.symbol_name, 'symbol_name');
  const scan = new SourceScan(threads, ctx);
  const { found, more } = await definitionsOf(wanted, request, true, { scan, limit: request.limit, offset: request.offset });
  const notes = [...(found.length > 1 ? [BY_NAME] : []), ...(more ? [`the first ${found.length} are shown`] : [])];
  const text = found.map(({ symbol, path }) => symbolLine(symbol, path)).join('\n') || `No definition of ${wanted}`;
  return textOutput(text + scan.note(...notes), { definitions: found.map(({ symbol, path }) => ({ path, ...symbol })), truncated: more });
};

/** Occurrences of a name in code, outside of comments and strings. */
const referencesByName: CodeOperation = async ({ symbol_name, path, language, limit, offset }, { threads, ctx }) => {
  const { name } = splitName(requireArgument(symbol_name, 'symbol_name'));
  const scan = new SourceScan(threads, ctx);
  const lines: string[] = [];
  const references: object[] = [];
  let skipped = 0;
  let more = false;
  search: for await (const file of scan.run({ path, language, containing: name }, occurrencesJob(name, offset + limit + 1))) {
    for (const { line, ...place } of file.results) {
      if (skipped++ < offset) continue;
      more = lines.length === limit;
      if (more) break search;
      lines.push(`${file.path}:${place.row}:${place.column}${place.definition ? ' (definition)' : ''} | ${line}`);
      references.push({ path: file.path, ...place });
    }
  }
  const notes = [...(lines.length > 0 ? [BY_NAME] : []), ...(more ? [`the first ${lines.length} are shown: raise limit or offset`] : [])];
  return textOutput((lines.join('\n') || `No references to ${name}`) + scan.note(...notes), { references, truncated: more });
};

export const gotoDefinition = atPlaceOrByName(definitionsAt, definitionsByName);
export const findReferences = atPlaceOrByName(referencesAt, referencesByName);
