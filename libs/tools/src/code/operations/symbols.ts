import type { FileResult } from '../source-files.js';
import { SourceScan } from '../source-files.js';
import { type CodeSymbol, symbolsJob } from '../syntax-threads.js';
import { type CodeOperation, type CodeRequest, type CodeRun, isWithinNames, requireArgument, splitName } from './code-request.js';
import { textOutput } from '../text-output.js';

/** Definitions of one file. */
export const MOST_SYMBOLS = 5_000;
const SOURCE_LINES = 200;

export function symbolLine({ name, kind, within, row, line }: CodeSymbol, path: string): string {
  return `${path}:${row} ${kind} ${within === '' ? '' : `${within}.`}${name} | ${line}`;
}

/** Definitions whose name equals or contains the given one. */
export const searchSymbols: CodeOperation = async (request, run) => {
  const wanted = requireArgument(request.symbol_name, 'symbol_name');
  const scan = new SourceScan(run.threads, run.ctx);
  const { found, more } = await definitionsOf(wanted, request, request.exact_match, { scan, limit: request.limit, offset: request.offset });
  const lines = found.map(({ symbol, path }) => symbolLine(symbol, path));
  const note = scan.note(...(more ? [`the first ${found.length} are shown: raise limit or offset, or name a folder`] : []));
  const text = (lines.join('\n') || `No symbol matches: ${wanted}`) + note;
  return textOutput(text, { symbols: found.map(({ symbol, path }) => ({ path, ...symbol })), files: scan.files, truncated: more });
};

/** The definitions of several names at once, with their source where it is wanted. */
export const lookupSymbols: CodeOperation = async (request, run) => {
  const names = (request.symbols ?? []).map((name) => requireArgument(name, 'symbols'));
  requireArgument(names[0], 'symbols');
  const parts: string[] = [];
  const details: object[] = [];
  const scan = new SourceScan(run.threads, run.ctx);
  for (const name of names) {
    const { found, more } = await definitionsOf(name, request, true, { scan, limit: request.limit, offset: 0 });
    const shown = found.map(
      ({ symbol, path, text }) => symbolLine(symbol, path) + (request.include_source ? sourceOf(symbol, text, run) : ''),
    );
    parts.push(shown.join('\n') || `No symbol matches: ${name}`, ...(more ? [`[more than ${found.length} are named ${name}]`] : []));
    details.push(...found.map(({ symbol, path }) => ({ path, ...symbol })));
  }
  return textOutput(parts.join('\n') + scan.note(), { symbols: details });
};

export interface FoundSymbol {
  readonly path: string;
  readonly text: string;
  readonly symbol: CodeSymbol;
}

/** Files are parsed that have the name in them. */
export async function definitionsOf(
  wanted: string,
  { path, language, symbol_type }: CodeRequest,
  exact: boolean,
  { scan, limit, offset }: { scan: SourceScan; limit: number; offset: number },
): Promise<{ found: FoundSymbol[]; more: boolean }> {
  const { name, within } = splitName(wanted);
  const isWanted = (symbol: CodeSymbol): boolean =>
    (exact ? symbol.name === name : symbol.name.toLowerCase().includes(name.toLowerCase())) &&
    isWithinNames(symbol.within, within) &&
    (symbol_type === undefined || symbol.kind === symbol_type);
  const found: FoundSymbol[] = [];
  let skipped = 0;
  for await (const file of scan.run({ path, language, containing: name }, symbolsJob(MOST_SYMBOLS))) {
    for (const symbol of file.results.filter(isWanted)) {
      if (skipped++ < offset) continue;
      if (found.length === limit) return { found, more: true };
      found.push({ path: file.path, text: file.text, symbol });
    }
  }
  return { found, more: false };
}

function sourceOf({ firstRow, lastRow }: CodeSymbol, text: string, { ctx }: CodeRun): string {
  const lines = text.split('\n').slice(firstRow - 1, lastRow);
  const shown = lines.slice(0, SOURCE_LINES).join('\n');
  const more = lines.length > SOURCE_LINES;
  return `\n${more ? ctx.redact(shown, true) : shown}${more ? `\n[${lines.length - SOURCE_LINES} more lines: read ${firstRow} to ${lastRow} with file_read]` : ''}\n`;
}

/** A line for each definition, indented as they are nested. */
export function outlineLines({ results }: Pick<FileResult<CodeSymbol>, 'results'>, topLevelOnly: boolean): string[] {
  return results
    .filter(({ within }) => !topLevelOnly || within === '')
    .map(({ row, lastRow, kind, name, within }) => {
      const depth = within === '' ? 0 : within.split('.').length;
      return `${'  '.repeat(Math.min(depth, 10))}${lastRow > row ? `${row}-${lastRow}` : row} ${kind} ${name}`;
    });
}
