import { z } from 'zod';
import type { ToolContext } from '../tool.port.js';
import { COMMON_ARGUMENTS, LARGEST_SEARCHED_FILE, NEVER_SEARCHED, ripgrep } from './ripgrep.js';
import { shownPath, type SearchTarget } from './search-target.js';

export interface SearchRequest {
  readonly query: string;
  readonly target: SearchTarget;
  readonly include?: string | undefined;
  readonly literal: boolean;
  readonly case_sensitive: boolean;
  readonly context: number;
  readonly output_mode: 'content' | 'files_with_matches' | 'count';
  readonly max_results: number;
}

export interface SearchResult {
  readonly lines: string[];
  readonly results: number;
  readonly truncated: boolean;
}

const LINE_CHARACTERS = 500;
const MOST_OUTPUT_CHARACTERS = 1_000_000;

/** Matching lines with their context, by file in the order of paths. */
export async function searchContent(request: SearchRequest, ctx: ToolContext): Promise<SearchResult> {
  const lines: string[] = [];
  let results = 0;
  let characters = 0;
  for await (const record of run(request, ['--json', '--context', String(request.context)], '\n', ctx)) {
    const line = parseRecord(record);
    if (!line) continue;
    if (line.matches && (results === request.max_results || characters > MOST_OUTPUT_CHARACTERS))
      return { lines, results, truncated: true };
    if (line.matches) results += 1;
    lines.push(line.text);
    characters += line.text.length;
  }
  return { lines, results, truncated: false };
}

/** Names of matching files, or names with the number of matching lines. */
export async function searchCounts(request: SearchRequest, ctx: ToolContext): Promise<SearchResult> {
  const lines: string[] = [];
  const counting = request.output_mode === 'count';
  // Counts come as "name NUL count LF", names as "name NUL".
  const [mode, separator] = counting ? (['--count', '\n'] as const) : (['--files-with-matches', '\0'] as const);
  for await (const record of run(request, [mode, '--null', '--with-filename'], separator, ctx)) {
    if (lines.length === request.max_results) return { lines, results: lines.length, truncated: true };
    lines.push(shownPath(counting ? record.replace('\0', ':') : record));
  }
  return { lines, results: lines.length, truncated: false };
}

function run(request: SearchRequest, mode: readonly string[], separator: '\n' | '\0', ctx: ToolContext): AsyncGenerator<string> {
  const args = [
    ...COMMON_ARGUMENTS,
    ...mode,
    ...(request.case_sensitive ? ['--case-sensitive'] : ['--ignore-case']),
    ...(request.literal ? ['--fixed-strings'] : []),
    ...includeArguments(request.include),
    ...NEVER_SEARCHED,
    '--max-filesize',
    LARGEST_SEARCHED_FILE,
    '--sort',
    'path',
    '--regexp',
    request.query,
    '--',
    request.target.argument,
  ];
  return ripgrep({ args, root: ctx.workspace.root, separator }, ctx);
}

/** A glob of names becomes a file type of its own, because types leave ignore files their say and `--glob` does not. */
function includeArguments(include: string | undefined): string[] {
  if (include === undefined) return [];
  const name = include.replace(/^\*\*\//, '');
  return name.includes('/') ? ['--glob', include] : ['--type-add', `included:${name}`, '--type', 'included'];
}

/** Text that is not UTF-8 comes as base64. */
const Text = z.union([
  z.object({ text: z.string() }).transform(({ text }) => text),
  z.object({ bytes: z.string() }).transform(({ bytes }) => Buffer.from(bytes, 'base64').toString('utf8')),
]);
const RipgrepRecord = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({ path: Text, lines: Text, line_number: z.number() }),
});

function parseRecord(record: string): { text: string; matches: boolean } | undefined {
  const parsed = RipgrepRecord.safeParse(JSON.parse(record));
  if (!parsed.success) return undefined;
  const { type, data } = parsed.data;
  const mark = type === 'match' ? ':' : '-';
  return {
    text: `${shownPath(data.path)}${mark}${data.line_number}${mark}${cut(data.lines.replace(/\r?\n$/, ''))}`,
    matches: type === 'match',
  };
}

function cut(line: string): string {
  return line.length <= LINE_CHARACTERS ? line : `${line.slice(0, LINE_CHARACTERS)}...[+${line.length - LINE_CHARACTERS} chars]`;
}
