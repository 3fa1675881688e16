import { posix } from 'node:path';
import { ToolError } from '#tool-sdk';
import { searchTarget } from '../../search/search-target.js';
import { type FileResult, SourceScan } from '../source-files.js';
import { type CodeSymbol, symbolsJob } from '../syntax-threads.js';
import { type CodeOperation } from './code-request.js';
import { textOutput } from '../text-output.js';
import { MOST_SYMBOLS, outlineLines } from './symbols.js';

const MAP_FILES = 200;
const MAP_CHARACTERS = 60_000;
/** Most folders and files of an overview, by number of definitions. */
const TOP = 15;

/** All definitions of one file. */
export const getDocumentSymbols: CodeOperation = async ({ path, top_level_only, language, limit, offset }, { threads, ctx }) => {
  const { directory, displayPath } = await searchTarget(ctx.workspace, path);
  if (directory)
    throw new ToolError('invalid_arguments', `${displayPath} is a folder: give a file, or use the operation search_codebase_map.`);
  const scan = new SourceScan(threads, ctx);
  const file = await first(scan.run({ path, language }, symbolsJob(MOST_SYMBOLS)));
  const all = outlineLines(file ?? { results: [] }, top_level_only);
  const shown = all.slice(offset, offset + limit);
  const more = all.length > offset + shown.length ? [`${all.length} symbols, ${offset + 1} to ${offset + shown.length} are shown`] : [];
  const text = (shown.join('\n') || `No symbols in ${displayPath}`) + scan.note(...more);
  return textOutput(text, { path: displayPath, symbols: file?.results ?? [], total: all.length });
};

/** The outermost definitions of each file of a folder. */
export const searchCodebaseMap: CodeOperation = async ({ path, language, offset }, { threads, ctx }) => {
  const scan = new SourceScan(threads, ctx);
  const parts: string[] = [];
  let [characters, files, more] = [0, 0, false];
  for await (const file of scan.run({ path, language }, symbolsJob(MOST_SYMBOLS))) {
    if (files++ < offset) continue;
    more = parts.length === MAP_FILES || characters > MAP_CHARACTERS;
    if (more) break;
    const names = file.results.filter(({ within }) => within === '').map(({ row, kind, name }) => `  ${row} ${kind} ${name}`);
    parts.push([file.path, ...names.slice(0, 50), ...(names.length > 50 ? [`  ... ${names.length - 50} more`] : [])].join('\n'));
    characters += parts.at(-1)?.length ?? 0;
  }
  const note = more ? [`the first ${parts.length} files are shown: go on with offset ${offset + parts.length}, or name a folder`] : [];
  return textOutput((parts.join('\n') || 'No source files') + scan.note(...note), { files: parts.length, truncated: more });
};

/** Languages, the folders with the most code and the files with the most definitions. */
export const generateCodebaseOverview: CodeOperation = async ({ path, language }, { threads, ctx }) => {
  const scan = new SourceScan(threads, ctx);
  const [languages, folders] = [new Map<string, Tally>(), new Map<string, Tally>()];
  const files: { path: string; symbols: number; names: string[] }[] = [];
  for await (const file of scan.run({ path, language }, symbolsJob(MOST_SYMBOLS))) {
    count(languages, file.language, file);
    count(folders, posix.dirname(file.path).split('/').slice(0, 3).join('/'), file);
    const names = file.results.filter(({ within }) => within === '').map(({ kind, name }) => `${kind} ${name}`);
    files.push({ path: file.path, symbols: file.results.length, names });
  }
  if (files.length === 0) return textOutput(`No source files${scan.note()}`, { files: 0 });
  const largest = files.toSorted((a, b) => b.symbols - a.symbols).slice(0, TOP);
  const text = [
    'Languages:',
    ...lines(languages),
    'Folders:',
    ...lines(folders),
    'Files with the most symbols:',
    ...largest.map((file) => `  ${file.path}: ${file.names.slice(0, 8).join(', ')}${file.names.length > 8 ? ', ...' : ''}`),
  ];
  return textOutput(text.join('\n') + scan.note(), { files: files.length, languages: Object.fromEntries(languages) });
};

interface Tally {
  files: number;
  lines: number;
  symbols: number;
}

function count(tallies: Map<string, Tally>, name: string, { text, results }: FileResult<CodeSymbol>): void {
  const tally = tallies.get(name) ?? { files: 0, lines: 0, symbols: 0 };
  tallies.set(name, tally);
  tally.files += 1;
  tally.lines += text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  tally.symbols += results.length;
}

function lines(tallies: ReadonlyMap<string, Tally>): string[] {
  const sorted = [...tallies].toSorted(([, a], [, b]) => b.lines - a.lines);
  const shown = sorted.slice(0, TOP).map(([name, it]) => `  ${name}: ${it.files} files, ${it.lines} lines, ${it.symbols} symbols`);
  return sorted.length > TOP ? [...shown, `  ... ${sorted.length - TOP} more`] : shown;
}

async function first<T>(items: AsyncGenerator<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
