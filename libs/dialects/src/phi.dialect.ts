import { z } from 'zod';
import { POLICY_PROFILES } from '#contracts';
import { type Dialect, dialectTool, definedFields, type Refusal } from './dialect.js';
import { LinesFacts, SearchFacts, streamsOf, textParts } from './facts.js';
import { detailOf, missingParameter, reasonOf, seconds } from './texts.js';

const STREAM_BYTES = 262_144;
const FILE_BYTES = 1_048_576;
const LISTED = 200;
const MATCHES = 50;
/** Folders that the canonical list shows by name only, or not at all. */
const NOT_LISTED = /(^|\/)(target|\.git|node_modules)(\/|$)/;

const path = z.string().min(1).describe('Path of the file, relative to the workspace.');

const bash = dialectTool({
  name: 'bash',
  tool: 'shell',
  description: 'Execute a bash command and return its exit code and output. Killed after 120 seconds; 256 KB of each stream are kept.',
  input: z.strictObject({ command: z.string().min(1).describe('The command to execute.') }),
  adapt: ({ command }) => ({ tool: 'shell', args: { command, timeout_ms: 120_000 } }),
  result(result) {
    const { exitCode, stdout, stderr } = streamsOf(result, STREAM_BYTES, () => '\n... (output truncated)');
    const exit = `Exit code: ${exitCode}\n`;
    const texts = stderr === '' ? [exit + stdout] : [`${exit}STDOUT:\n${stdout}`, `STDERR:\n${stderr}`];
    return { content: textParts(...texts), details: { exit_code: exitCode, success: exitCode === 0 } };
  },
  refusal: (refusal) => {
    const seconds = timeoutSeconds(refusal);
    return seconds === undefined ? refusalText(refusal) : `Command timed out after ${seconds}s`;
  },
});

const readFile = dialectTool({
  name: 'read_file',
  tool: 'file_read',
  description: 'Read a file with line numbers, or an image (jpg, png, webp, gif, bmp). Text files of more than 1 MB are read in parts.',
  input: z.strictObject({
    path,
    offset: z.number().int().min(1).optional().describe('First line to read, counted from 1.'),
    limit: z.number().int().min(1).optional().describe('How many lines to read.'),
  }),
  adapt: (args) => ({ tool: 'file_read', args: { ...args, line_numbers: true } }),
  result: ({ args, content, facts }) => {
    const { data } = LinesFacts.safeParse(facts);
    const bytes = data === undefined || 'offset' in args || 'limit' in args ? 0 : Buffer.byteLength(data.content);
    if (bytes <= FILE_BYTES) return { content };
    const text = `File too large (${bytes} bytes, max ${FILE_BYTES}). Use offset/limit for partial reads.`;
    return { content: text, isError: true };
  },
  refusal: (refusal) => {
    if (refusal.code !== 'tool_failed') return refusalText(refusal);
    const [, bytes] = /^File too large: .* has ([\d,]+) bytes, at most 20,971,520/.exec(refusal.message) ?? [];
    if (bytes !== undefined) return `Image too large (${Math.round(Number(bytes.replaceAll(',', '')) / 1_048_576)}MB, max 20MB)`;
    return `Cannot access ${String(refusal.args?.['path'])}: ${refusal.message}`;
  },
});

const writeFile = dialectTool({
  name: 'write_file',
  tool: 'file_write',
  description: 'Write content to a file. Creates the file and its parent folders, or replaces what is there.',
  input: z.strictObject({ path, content: z.string().describe('Content to write.') }),
  adapt: (args) => ({ tool: 'file_write', args }),
});

const editFile = dialectTool({
  name: 'edit_file',
  tool: 'file_edit',
  description: 'Replace text in a file. old_text must match exactly once, with its spaces and line breaks.',
  input: z.strictObject({
    path,
    old_text: z.string().min(1).describe('Text to find.'),
    new_text: z.string().describe('Text to put in its place.'),
  }),
  adapt: (args) => ({ tool: 'file_edit', args }),
  refusal: (refusal) => {
    const { message } = refusal;
    if (message.startsWith('File not found')) return message.replace('file_write', 'write_file');
    return refusalText({ ...refusal, message: message.replace(' unique, or set replace_all.', ' unique.') });
  },
});

const listFiles = dialectTool({
  name: 'list_files',
  tool: 'file_list',
  timeoutMs: 10_000,
  description: 'List files, sorted, at most 200. target, .git and node_modules are left out.',
  input: z.strictObject({
    path: z.string().min(1).default('.').describe('Folder to list.'),
    pattern: z.string().min(1).max(1_000).optional().describe('Glob of file names, such as "*.ts".'),
    max_depth: z.number().int().min(1).max(50).default(3).describe('How deep to go.'),
  }),
  adapt: (args) => ({ tool: 'file_list', args: definedFields(args) }),
  result: ({ args, facts }) => {
    const { entries } = z.object({ entries: z.array(z.string()) }).parse(facts);
    const files = entries.filter((entry) => !entry.endsWith('/') && !NOT_LISTED.test(entry));
    if (files.length === 0) return { content: `No files found in ${String(args['path'])}`, details: { total: 0, truncated: false } };
    const truncated = files.length > LISTED;
    const count = truncated ? `... (${files.length} files, showing first ${LISTED})` : `(${files.length} files)`;
    return { content: [...files.slice(0, LISTED), count].join('\n'), details: { total: files.length, truncated } };
  },
  refusal: (refusal) => {
    if (refusal.code === 'run_timeout') return 'Listing timed out';
    if (refusal.code !== 'tool_failed') return refusalText(refusal);
    return `Directory not found: ${String(refusal.args?.['path'])}. Check the path and try again.`;
  },
});

const search = dialectTool({
  name: 'search',
  tool: 'file_search',
  timeoutMs: 30_000,
  description: 'Search files for a regular expression. At most 50 matches are shown.',
  input: z.strictObject({
    pattern: z.string().min(1).max(10_000).describe('Regular expression.'),
    path: z.string().min(1).optional().describe('Folder or file to search in.'),
    include: z.string().min(1).max(1_000).optional().describe('Glob of files to search, such as "*.rs".'),
    case_sensitive: z.boolean().default(false).describe('Tell upper and lower case apart.'),
  }),
  adapt: ({ pattern, ...args }) => ({
    tool: 'file_search',
    args: definedFields({ ...args, query: pattern, max_results: MATCHES, max_per_file: MATCHES }),
  }),
  result: ({ args, facts }) => {
    const { found, truncated } = SearchFacts.parse(facts);
    if (found.length === 0) return `No matches found for '${String(args['query'])}'`;
    const lines = found.map(({ path: file, line, text }) => `${file}:${line ?? 0}:${text ?? ''}`);
    return [...lines, truncated ? `... (showing first ${MATCHES} matches)` : `${found.length} matches`].join('\n');
  },
  refusal: (refusal) => {
    if (refusal.code === 'run_timeout') return 'Search timed out';
    return missingParameter(refusal) === undefined && refusal.kind !== 'policy'
      ? `Search error: ${detailOf(refusal)}`
      : refusalText(refusal);
  },
});

/** The six tools of phi-core. */
export const dialect: Dialect = {
  name: 'phi',
  execution: POLICY_PROFILES.phi.execution,
  profile: 'phi',
  answers: {
    commands: {
      timedOut: (ms) => `Command timed out after ${seconds(ms)}`,
      stream: { bytes: 262_144, cut: () => '\n... (output truncated)' },
    },
    files: { whole: { bytes: 1_048_576, hint: 'Use offset/limit for partial reads.' } },
  },
  tools: [bash, readFile, writeFile, editFile, listFiles, search],
  hookDenial: () => 'Tool execution skipped by before_tool_execution hook.',
  unknown: (name) => `Tool not found: ${name}`,
  refusal: (_tool, refusal) => refusalText(refusal),
};

function refusalText(refusal: Refusal): string {
  if (refusal.code === 'cancelled') return 'Cancelled';
  if (refusal.code !== 'invalid_arguments') return reasonOf(refusal);
  const missing = missingParameter(refusal);
  if (missing !== undefined) return `Invalid arguments: missing '${missing}' parameter`;
  return refusal.started ? refusal.message : `Invalid arguments: ${detailOf(refusal)}`;
}

/** Run time in seconds of a command killed at its timeout. */
export function timeoutSeconds({ code, message }: Refusal): string | undefined {
  return code === 'run_timeout' ? /after ([\d.]+)s/.exec(message)?.[1] : undefined;
}
