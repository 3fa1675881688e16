import { z } from 'zod';
import type { ToolContext } from '#tool-sdk';
import { isRipgrepSandboxed } from './sandboxed-ripgrep.js';
import { DeniedResults } from './denied-results.js';
import { ReadVerifier } from './read-verifier.js';
import { COMMON_ARGUMENTS, LARGEST_SEARCHED_BYTES, NEVER_SEARCHED, ripgrep } from './ripgrep.js';
import { displayPath, type SearchTarget } from './search-target.js';

export interface SearchRequest {
  readonly query: string;
  readonly target: SearchTarget;
  readonly include?: string | undefined;
  readonly literal: boolean;
  readonly case_sensitive: boolean;
  readonly context: number;
  /** Context lines on one side, in place of `context`. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly multiline?: boolean | undefined;
  readonly type?: string | undefined;
  readonly max_depth?: number | undefined;
  readonly max_per_file?: number | undefined;
  /** Number of skipped results. */
  readonly offset?: number | undefined;
  readonly output_mode: 'content' | 'files_with_matches' | 'count';
  readonly max_results: number;
}

export interface SearchResult {
  readonly lines: string[];
  /** Found lines. */
  readonly found: Found[];
  readonly results: number;
  readonly truncated: boolean;
}

/** A line of a file, or a file with the number of its matching lines. */
export interface Found {
  readonly path: string;
  readonly count?: number;
  readonly line?: number;
  readonly text?: string;
  /** False for a line of context. */
  readonly matches?: boolean;
}

/** An expression that compiles to more is refused; searching takes no more memory than the second. */
const COMPILED_SIZE = ['--regex-size-limit', '10M', '--dfa-size-limit', '64M'] as const;
const LINE_CHARACTERS = 500;
const MOST_OUTPUT_CHARACTERS = 1_000_000;
/** Most files of a workspace that are listed to find those excluded by ignore files. */
const MOST_LISTED = 100_000;

/** Matching lines with their context, by file in the order of paths. */
export async function searchContent(request: SearchRequest, ctx: ToolContext): Promise<SearchResult> {
  const lines: string[] = [];
  const found: Found[] = [];
  let results = 0;
  let characters = 0;
  let skipped = 0;
  const { context, before = context, after = context, offset = 0 } = request;
  for await (const { path, number, line, matches } of searchMatches(request, { before, after }, ctx)) {
    if (skipped < offset) {
      if (matches) skipped += 1;
      continue;
    }
    if (matches && (results === request.max_results || characters > MOST_OUTPUT_CHARACTERS))
      return { lines, found, results, truncated: true };
    if (matches) results += 1;
    const mark = matches ? ':' : '-';
    const text = truncateLine(line, ctx);
    found.push({ path, line: number, text, matches });
    lines.push(`${path}${mark}${number}${mark}${text}`);
    characters += lines.at(-1)?.length ?? 0;
  }
  return { lines, found, results, truncated: false };
}

/** Names of matching files, or names with the number of matching lines. */
export async function searchCounts(request: SearchRequest, ctx: ToolContext): Promise<SearchResult> {
  const lines: string[] = [];
  const found: Found[] = [];
  let skipped = 0;
  for await (const { path, count } of (await isRipgrepSandboxed(ctx)) ? reportedCounts(request, ctx) : countedMatches(request, ctx)) {
    if (skipped++ < (request.offset ?? 0)) continue;
    if (lines.length === request.max_results) return { lines, found, results: lines.length, truncated: true };
    found.push({ path, count });
    lines.push(request.output_mode === 'count' ? `${path}:${count}` : path);
  }
  return { lines, found, results: lines.length, truncated: false };
}

interface FileCount {
  readonly path: string;
  readonly count: number;
}

async function* reportedCounts(request: SearchRequest, ctx: ToolContext): AsyncGenerator<FileCount> {
  // Counts come as "name NUL count LF", names as "name NUL".
  const [mode, separator] = request.output_mode === 'count' ? (['--count', '\n'] as const) : (['--files-with-matches', '\0'] as const);
  const denied = new DeniedResults(request.target, ctx);
  for await (const record of run(request, [mode, '--null', '--with-filename'], separator, ctx)) {
    const [path = '', count] = record.split('\0');
    if (await denied.allows(path)) yield { path: displayPath(path, request.target.prefix), count: Number(count ?? 1) };
  }
}

async function* countedMatches(request: SearchRequest, ctx: ToolContext): AsyncGenerator<FileCount> {
  let file: FileCount | undefined;
  for await (const { path } of searchMatches(request, { before: 0, after: 0 }, ctx)) {
    if (file && file.path !== path) yield file;
    file = { path, count: file?.path === path ? file.count + 1 : 1 };
  }
  if (file) yield file;
}

interface SearchMatch {
  readonly path: string;
  readonly number: number;
  readonly line: string;
  /** False for a line of context. */
  readonly matches: boolean;
}

interface Around {
  readonly before: number;
  readonly after: number;
}

async function* searchMatches(request: SearchRequest, { before, after }: Around, ctx: ToolContext): AsyncGenerator<SearchMatch> {
  const witness = (await isRipgrepSandboxed(ctx)) ? undefined : new ReadVerifier(request.target, ctx);
  const denied = new DeniedResults(request.target, ctx);
  const mode = ['--json', '--before-context', String(before), '--after-context', String(after)];
  for await (const record of run(request, mode, '\n', ctx)) {
    for (const hit of parseRecord(record)) {
      if (!(await denied.allows(hit.path))) continue;
      if (witness === undefined || (await witness.hasLine(hit.path, hit.number, hit.line)))
        yield { ...hit, path: displayPath(hit.path, request.target.prefix) };
    }
  }
}

/** True if ignore files exclude any file of this search. Reads no file. */
export async function hasIgnoredFiles(request: SearchRequest, ctx: ToolContext): Promise<boolean> {
  if (!request.target.directory) return false;
  const searched = new Set<string>();
  for await (const file of listFiles(request, [], ctx)) {
    searched.add(file);
    if (searched.size === MOST_LISTED) return false;
  }
  const denied = new DeniedResults(request.target, ctx);
  for await (const file of listFiles(request, ['--no-ignore', '--no-ignore-files'], ctx))
    if (!searched.has(file) && (await denied.allows(file))) return true;
  return false;
}

function listFiles(request: SearchRequest, more: readonly string[], ctx: ToolContext): AsyncGenerator<string> {
  const args = [...COMMON_ARGUMENTS, '--files', '--null', ...more, ...selectionArguments(request), '--', request.target.argument];
  return ripgrep({ args, root: request.target.root, separator: '\0' }, ctx);
}

function run(request: SearchRequest, mode: readonly string[], separator: '\n' | '\0', ctx: ToolContext): AsyncGenerator<string> {
  const args = [
    ...COMMON_ARGUMENTS,
    ...mode,
    ...(request.case_sensitive ? ['--case-sensitive'] : ['--ignore-case']),
    ...(request.literal ? ['--fixed-strings'] : []),
    ...(request.multiline === true ? ['--multiline', '--multiline-dotall'] : []),
    ...(request.max_per_file === undefined ? [] : ['--max-count', String(request.max_per_file)]),
    ...selectionArguments(request),
    '--max-filesize',
    String(LARGEST_SEARCHED_BYTES),
    ...COMPILED_SIZE,
    '--sort',
    'path',
    '--regexp',
    request.query,
    '--',
    request.target.argument,
  ];
  return ripgrep({ args, root: request.target.root, separator }, ctx);
}

/** Arguments that select the searched files. */
function selectionArguments({ max_depth, type, include }: SearchRequest): string[] {
  return [
    ...(max_depth === undefined ? [] : ['--max-depth', String(max_depth)]),
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...includeArguments(include),
    ...NEVER_SEARCHED,
  ];
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

/** A match over several lines is each of them. */
function parseRecord(record: string): SearchMatch[] {
  const parsed = RipgrepRecord.safeParse(JSON.parse(record));
  if (!parsed.success) return [];
  const { type, data } = parsed.data;
  const lines = data.lines.replace(/\r?\n$/, '').split(/\r?\n/);
  return lines.map((line, index) => ({ path: data.path, number: data.line_number + index, line, matches: type === 'match' }));
}

function truncateLine(line: string, { redact }: Pick<ToolContext, 'redact'>): string {
  return line.length <= LINE_CHARACTERS
    ? line
    : `${redact(line.slice(0, LINE_CHARACTERS), true)}...[+${line.length - LINE_CHARACTERS} chars]`;
}
