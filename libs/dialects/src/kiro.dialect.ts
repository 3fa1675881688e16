import { z } from 'zod';
import { POLICY_PROFILES, type JsonValue } from '#contracts';
import { type CanonicalCall, type Dialect, dialectTool, given, type Refusal, type RenderedObject } from './dialect.js';
import { ChangeFacts, countLines, FetchFacts, GlobFacts, SearchFacts, streamsOf, WebSearchFacts } from './facts.js';
import { KIRO_READ, kiroPath } from './kiro-read.js';
import { reasonOf } from './texts.js';

const STREAM_BYTES = Math.floor(400_000 / 3);
const AWS_STREAM_BYTES = Math.floor(100_000 / 3);
const PAGE_CHARACTERS = 8_000;

const path = z.string().describe('Path, relative to the workspace.');
const count = z.number().int().min(0).max(1_000_000);

const write = dialectTool({
  name: 'write',
  aliases: ['fs_write', 'fsWrite'],
  tool: 'file_write',
  description: 'Create a file, replace text in a file (strReplace), or insert lines (insert; without insertLine at the end).',
  input: z.strictObject({
    command: z.enum(['create', 'strReplace', 'insert']).describe('What to do.'),
    path,
    content: z.string().optional().describe('For create and insert: the text.'),
    oldStr: z.string().optional().describe('For strReplace: the text to find.'),
    newStr: z.string().optional().describe('For strReplace: what to put in its place.'),
    replaceAll: z.boolean().optional().describe('For strReplace: replace every occurrence.'),
    insertLine: count.optional().describe('For insert: insert after this line; 0 is the beginning.'),
  }),
  argumentAliases: { oldStr: ['old_str'], newStr: ['new_str'], insertLine: ['insert_line'], content: ['file_text'] },
  adapt: (args) => writeCall(args),
  result: (result) => {
    const { path: file, occurrences = 1 } = ChangeFacts.parse(result.facts);
    const { content, insert_text: inserted, insert_line: at } = result.args;
    if (typeof content === 'string') return `Successfully created ${file} (${countLines(content)} lines).`;
    if (typeof inserted !== 'string') return `Successfully replaced ${occurrences} occurrence(s) in ${file}.`;
    const place = typeof at === 'number' ? `at line ${at} in ${file}.` : `at end of file in ${file}.`;
    return `Successfully inserted ${countLines(inserted)} line(s) ${place}`;
  },
  refusal: (refusal) => {
    const { old_text: old } = refusal.args ?? {};
    if (refusal.message.startsWith('old_text not found')) return `no occurrences of "${String(old)}" were found`;
    const [, many] = /^old_text matches (\d+) locations/.exec(refusal.message) ?? [];
    return many === undefined ? refusalText(refusal) : `${many} occurrences of old_str were found when only 1 is expected`;
  },
});

interface WriteArguments {
  readonly command: 'create' | 'strReplace' | 'insert';
  readonly path: string;
  readonly content?: string | undefined;
  readonly oldStr?: string | undefined;
  readonly newStr?: string | undefined;
  readonly replaceAll?: boolean | undefined;
  readonly insertLine?: number | undefined;
}

function writeCall({ command, content, oldStr, newStr, replaceAll, insertLine, ...file }: WriteArguments): CanonicalCall {
  const target = kiroPath(file.path);
  switch (command) {
    case 'create':
      return { tool: 'file_write', args: { path: target, content: needed('content', content) } };
    case 'strReplace': {
      const old_text = needed('oldStr', oldStr);
      const new_text = needed('newStr', newStr);
      if (old_text === '') throw new Error('oldStr must not be empty');
      return { tool: 'file_edit', args: given({ path: target, old_text, new_text, replace_all: replaceAll }) };
    }
    case 'insert': {
      const insert_text = needed('content', content);
      if (insert_text === '') throw new Error('Content to insert must not be empty');
      return { tool: 'file_edit', args: given({ path: target, insert_text, insert_line: insertLine }) };
    }
    default:
      return command satisfies never;
  }
}

const shell = dialectTool({
  name: 'shell',
  aliases: ['execute_bash', 'execute_cmd', 'executeCmd'],
  tool: 'shell',
  description: 'Run a bash command. Answers exit status and both streams, of which the first 133,333 bytes are kept.',
  input: z.strictObject({
    command: z.string().describe('Command to run.'),
    working_dir: z.string().min(1).optional().describe('Folder to run it in.'),
  }),
  adapt: ({ command, working_dir }) => {
    if (command.trim() === '') throw new Error('Command must not be empty');
    return { tool: 'shell', args: given({ command, working_dir, timeout_ms: 600_000 }) };
  },
  result: (result) => {
    const { exitCode, ...streams } = streamsOf(result, STREAM_BYTES, () => ' ... truncated');
    return json({ exit_status: String(exitCode), ...streams });
  },
  refusal: (refusal) => {
    const { working_dir: folder } = refusal.args ?? {};
    const isFolder =
      typeof folder === 'string' &&
      /^(Not a directory|File not found|Path is not a directory)|not a (folder|directory)/i.test(refusal.message);
    return isFolder ? `Working directory is not a directory: ${folder}` : refusalText(refusal);
  },
});

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
    return { tool: 'file_search', args: given({ ...args, ...bounds, query, max_results }), hints: { max_files: most.files } };
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
    return { tool: 'glob', args: given({ ...args, limit: clamp(limit, 1_000), max_depth: clamp(max_depth, 50) }) };
  },
  result: ({ args, facts }) => {
    const { files, totalFiles, truncated } = GlobFacts.parse(facts);
    const shown = { filePaths: files, totalFiles, truncated };
    return json(files.length === 0 ? { ...shown, message: `No files found matching pattern: ${String(args['pattern'])}` } : shown);
  },
});

const webFetch = dialectTool({
  name: 'web_fetch',
  aliases: ['webFetch'],
  tool: 'web_fetch',
  description: 'Fetch a web page as text: around search terms (selective), its first 8,000 characters (truncated), or whole (full).',
  input: z.strictObject({
    url: z.string().min(1).max(8_192).describe('http or https URL.'),
    mode: z.enum(['selective', 'truncated', 'full']).default('selective').describe('How much of the page is shown.'),
    search_terms: z.string().min(1).max(500).optional().describe('For selective: words to look for.'),
  }),
  adapt: ({ url, mode, search_terms }) => {
    const max_chars = mode === 'full' ? 1_000_000 : PAGE_CHARACTERS;
    return {
      tool: 'web_fetch',
      args: given({ url, output_format: 'text', max_chars, search_terms: mode === 'selective' ? search_terms : undefined }),
      hints: { mode },
    };
  },
  result: ({ facts, hints }) => {
    const { mode, contentType, body, truncated } = FetchFacts.parse(facts);
    if (mode === 'metadata_only') return { content: `Unsupported content type: ${contentType}`, isError: true };
    return truncated && hints['mode'] === 'truncated'
      ? `${body}\n\n[Content truncated - showing first ${PAGE_CHARACTERS} characters]`
      : body;
  },
});

const webSearch = dialectTool({
  name: 'web_search',
  aliases: ['webSearch'],
  tool: 'web_search',
  description: 'Search the web.',
  input: z.strictObject({ query: z.string().min(1).max(10_000).describe('What to search for; the first 200 characters count.') }),
  adapt: ({ query }) => ({ tool: 'web_search', args: { query: query.slice(0, 200) } }),
  result: ({ facts }) => {
    const { results } = WebSearchFacts.parse(facts);
    return json({ results });
  },
});

const taskFields = z.strictObject({ task_description: z.string().min(1).max(1_000), details: z.string().max(4_000).optional() });
const ids = z.array(z.string().min(1).max(20)).min(1).max(100);
const task = dialectTool({
  name: 'task',
  aliases: ['todo_list', 'todo'],
  tool: 'task_list',
  description: 'Keep a list of tasks: create, complete, add, remove, list.',
  input: z.strictObject({
    command: z.enum(['create', 'complete', 'add', 'remove', 'list']),
    tasks: z.array(taskFields).max(100).optional(),
    task_list_description: z.string().max(1_000).optional(),
    completed_task_ids: ids.optional(),
    context_update: z.string().max(4_000).optional(),
    modified_files: z.array(z.string().max(1_024)).max(200).optional(),
    new_tasks: z.array(taskFields).max(100).optional(),
    new_description: z.string().max(1_000).optional(),
    remove_task_ids: ids.optional(),
  }),
  adapt: (args) => ({ tool: 'task_list', args: given(args) }),
});

const LANGUAGES = ['bash', 'c', 'cpp', 'csharp', 'go', 'java', 'javascript', 'json', 'php', 'python', 'ruby', 'rust', 'tsx', 'typescript'];
const KINDS = [
  'class',
  'constant',
  'constructor',
  'enum',
  'field',
  'function',
  'interface',
  'key',
  'macro',
  'method',
  'module',
  'struct',
  'trait',
  'type',
  'variable',
];
const symbol = z.string().max(200);
const code = dialectTool({
  name: 'code',
  tool: 'code',
  description: 'Code intelligence by syntax trees: symbols, outlines, patterns, an overview of the code.',
  input: z.strictObject({
    operation: z.enum([
      'search_symbols',
      'lookup_symbols',
      'get_document_symbols',
      'pattern_search',
      'generate_codebase_overview',
      'search_codebase_map',
    ]),
    path: z.string().min(1).optional(),
    file_path: z.string().min(1).optional(),
    symbol_name: symbol.optional(),
    symbols: z.array(symbol).min(1).max(10).optional(),
    exact_match: z.boolean().optional(),
    include_source: z.boolean().optional(),
    top_level_only: z.boolean().optional(),
    pattern: z.string().max(2_000).optional(),
    language: z.enum(LANGUAGES).optional(),
    symbol_type: z.enum(KINDS).optional(),
    limit: z.number().int().min(1).max(500).optional(),
    offset: count.optional(),
  }),
  adapt: ({ file_path, path: folder, ...args }) => ({ tool: 'code', args: given({ ...args, path: file_path ?? folder }) }),
});

const label = z.string().min(1).max(256);
const knowledge = dialectTool({
  name: 'knowledge',
  tool: 'knowledge',
  description: 'Index files and texts, and search them: show, add, remove, clear, search, update, status, cancel.',
  input: z.strictObject({
    command: z.enum(['show', 'add', 'remove', 'clear', 'search', 'update', 'status', 'cancel']),
    name: label.optional().describe('add, remove, update: name of the context.'),
    value: z.string().min(1).max(4_096).optional().describe('add: a path of the workspace, or a text.'),
    path: z.string().min(1).max(4_096).optional(),
    context_id: z.string().min(1).max(128).optional(),
    query: z.string().min(1).max(2_000).optional(),
    limit: z.number().int().min(1).max(50).optional(),
    offset: z.number().int().min(0).max(1_000).optional(),
    snippet_length: z.number().int().min(50).max(2_000).optional(),
    sort_by: z.enum(['relevance', 'path', 'name']).optional(),
    file_type: z.string().min(1).max(32).optional(),
    operation_id: z.string().min(1).max(128).optional(),
  }),
  adapt: ({ value, ...args }) => {
    // A path has no blanks; every other value is a text.
    const isPath = value !== undefined && args.path === undefined && /^[^\s]*[./][^\s]*$/.test(value);
    return { tool: 'knowledge', args: given({ ...args, ...(isPath ? { path: value } : { value }) }) };
  },
});

const useAws = dialectTool({
  name: 'use_aws',
  aliases: ['aws', 'useAws'],
  tool: 'aws',
  description: 'Call an operation of an AWS service with the AWS CLI.',
  input: z.strictObject({
    service_name: z.string().min(1).max(64).describe('Service, such as s3api.'),
    operation_name: z.string().min(1).max(128).describe('Operation, such as list-buckets.'),
    region: z.string().min(1).max(64).describe('AWS region.'),
    label: z.string().max(256).describe('What the call is for, in a few words.'),
    positional_args: z.array(z.string().max(4_096)).max(32).optional().describe('Arguments without a name.'),
    parameters: z
      .record(z.string().min(1).max(128), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Named parameters.'),
    profile_name: z.string().min(1).max(128).optional().describe('Named profile of the credentials.'),
  }),
  adapt: (args) => ({ tool: 'aws', args: given(args) }),
  result: (result) => {
    const { exitCode, ...streams } = streamsOf(result, AWS_STREAM_BYTES, () => ' ... truncated');
    return json({ exit_status: String(exitCode), ...streams });
  },
});

const stage = z.strictObject({
  name: z.string().min(1).max(64).describe('Name of the stage.'),
  role: z.string().min(1).max(64).meta({ 'x-choices': 'agents' }).describe('The sub-agent that does it.'),
  prompt_template: z.string().min(1).max(50_000).describe('What it is asked; {task} stands for the task.'),
  depends_on: z.array(z.string().min(1).max(64)).max(20).default([]).describe('Stages that end before it begins.'),
  model: z.string().max(256).optional().describe('Without effect: the operator chooses the model.'),
});
const subagent = dialectTool({
  name: 'subagent',
  aliases: ['use_subagent', 'agent_crew'],
  tool: 'agent_crew',
  description: 'Give a task to sub-agents in stages. Stages without depends_on begin at the same time.',
  input: z.strictObject({
    task: z.string().min(1).max(100_000).describe('The task.'),
    stages: z.array(stage).min(1).max(20).describe('Its parts.'),
    mode: z.literal('blocking').default('blocking').describe('The answer comes when all stages have ended.'),
  }),
  adapt: ({ task: whole, stages }) => ({
    tool: 'agent_crew',
    args: {
      task: whole,
      stages: stages.map(({ name, role, prompt_template, depends_on }) => ({ name, role, prompt_template, depends_on })),
    },
  }),
});

const summary = dialectTool({
  name: 'summary',
  tool: 'summary',
  description: 'Give the result of your task to the agent that called you.',
  input: z.strictObject({
    taskDescription: z.string().min(1).max(10_000),
    taskResult: z.string().min(1).max(200_000),
    contextSummary: z.string().max(50_000).optional(),
  }),
  adapt: (args) => ({ tool: 'summary', args: given(args) }),
});

const switchToExecution = dialectTool({
  name: 'switch_to_execution',
  tool: 'switch_to_execution',
  description: 'Hand the finished plan to the agent that executes it.',
  input: z.strictObject({ plan: z.string().min(1).max(150_000).describe('The plan.') }),
  adapt: (args) => ({ tool: 'switch_to_execution', args }),
});

/** The tools of Kiro's command line, version 2. */
export const kiro: Dialect = {
  name: 'kiro',
  execution: POLICY_PROFILES.kiro.execution,
  tools: [...KIRO_READ, write, shell, grep, glob, webFetch, webSearch, task, code, knowledge, useAws, subagent, summary, switchToExecution],
  missing: {
    session_management: 'there is no canonical tool for it yet',
    introspect: 'there is no canonical tool for it yet',
  },
  unknown: (name) => `Failed to parse the tool use: A tool with the name '${name}' does not exist`,
  refusal: (_tool, refusal) => refusalText(refusal),
};

function refusalText(refusal: Refusal): string {
  const said = reasonOf(refusal).replace(/^Invalid arguments:\s*/, '');
  switch (refusal.kind) {
    case 'schema':
      return `Failed to parse the tool use: The tool input does not match the tool schema: ${said}`;
    case 'semantic':
      return `Failed to parse the tool use: The tool arguments failed validation: ${said}`;
    case 'policy':
      return refusal.code === 'policy_denied' ? `Tool use was rejected because the arguments supplied are forbidden: ${said}` : said;
    case 'run':
      return said;
    default:
      return refusal.kind satisfies never;
  }
}

function json(value: JsonValue): RenderedObject {
  return { content: [{ type: 'json', json: value }] };
}

function clamp(value: number, most: number): number {
  return Math.max(1, Math.min(value, most));
}

function needed(name: string, value: string | undefined): string {
  if (value === undefined) throw new Error(`missing '${name}' parameter`);
  return value;
}
