import { z } from 'zod';
import { dialectTool, definedFields } from './dialect.js';
import { GlobFacts, SearchFacts } from './facts.js';
import { count, json } from './kiro-texts.js';

const grep = dialectTool({
  name: 'grep',
  tool: 'file_search',
  description: 'Search files for a regular expression. Honours .gitignore.',
  input: z.strictObject({
    pattern: z.string().min(1).max(10_000).describe('Regular expression.'),
    path: z.string().min(1).optional().describe('Folder or file to search in.'),
    include: z.string().min(1).max(1_000).optional().describe('Glob of files to search.'),
    case_sensitive: z.boolean().default(false).describe('Tell upper and lower case apart.'),
    output_mode: z.enum(['content', 'files_with_matches', 'count']).default('content').describe('What is shown.'),
    max_matches_per_file: count.default(5).describe('1 to 30.'),
    max_files: count.default(100).describe('1 to 400.'),
    max_total_lines: count.default(100).describe('1 to 300.'),
    max_depth: count.default(30).describe('1 to 50.'),
  }),
  adapt: ({ pattern, max_matches_per_file, max_files, max_total_lines, max_depth, ...args }) => {
    const most = { files: clamp(max_files, 400), lines: clamp(max_total_lines, 300) };
    const query = /[^\\]"$/.test(pattern) && !pattern.slice(0, -1).includes('"') ? pattern.slice(0, -1) : pattern;
    const isContent = args.output_mode === 'content';
    const bounds = { max_per_file: isContent ? clamp(max_matches_per_file, 30) : undefined, max_depth: clamp(max_depth, 50) };
    const max_results = isContent ? most.lines : most.files;
    return { tool: 'file_search', args: definedFields({ ...args, ...bounds, query, max_results }), hints: { max_files: most.files } };
  },
  result: ({ args, facts, hints }) => {
    const { found, truncated } = SearchFacts.parse(facts);
    const files = [...new Set(found.map((hit) => hit.path))];
    const kept = files.slice(0, Number(hints['max_files']));
    const hits = found.filter((hit) => kept.includes(hit.path));
    const numMatches = hits.reduce((sum, { count: of = 1 }) => sum + of, 0);
    const results = kept.map((file) => {
      const own = hits.filter((hit) => hit.path === file);
      if (args['output_mode'] === 'files_with_matches') return { file };
      const matches = own.map((hit) => `${hit.line ?? 0}:${hit.text ?? ''}`);
      return { file, count: own.reduce((sum, { count: of = 1 }) => sum + of, 0), ...(args['output_mode'] === 'count' ? {} : { matches }) };
    });
    const about = { numMatches, numFiles: kept.length, truncated: truncated || kept.length < files.length, results };
    return json(results.length === 0 ? { ...about, message: `No matches found for pattern: ${String(args['query'])}` } : about);
  },
});

const glob = dialectTool({
  name: 'glob',
  tool: 'glob',
  description: 'Find files by a glob pattern. Honours .gitignore.',
  input: z.strictObject({
    pattern: z.string().max(1_000).describe('Glob pattern, such as "**/*.rs".'),
    path: z.string().min(1).optional().describe('Folder to search in.'),
    limit: count.default(200).describe('How many files to show.'),
    max_depth: count.default(30).describe('1 to 50.'),
  }),
  adapt: ({ limit, max_depth, ...args }) => {
    if (args.pattern.trim() === '') throw new Error('Glob pattern cannot be empty');
    return { tool: 'glob', args: definedFields({ ...args, limit: clamp(limit, 1_000), max_depth: clamp(max_depth, 50) }) };
  },
  result: ({ args, facts }) => {
    const { files, totalFiles, truncated } = GlobFacts.parse(facts);
    const shown = { filePaths: files, totalFiles, truncated };
    return json(files.length === 0 ? { ...shown, message: `No files found matching pattern: ${String(args['pattern'])}` } : shown);
  },
});

function clamp(value: number, most: number): number {
  return Math.max(1, Math.min(value, most));
}

export const KIRO_SEARCH = [grep, glob];
