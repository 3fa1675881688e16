import { z } from 'zod';
import { POLICY_PROFILES, type JsonValue } from '#contracts';
import type { FetchedFacts } from '#tool-sdk';
import { type Dialect, dialectTool, definedFields, type Refusal } from './dialect.js';
import { ChangeFacts, FetchFacts, SearchFacts, shellTexts, streamsOf, textParts, WebSearchFacts } from './facts.js';
import { detailOf, missingParameter, reasonOf, seconds } from './texts.js';

const path = z.string().min(1).describe('Path, relative to the workspace or in a mounted root.');

const shellExec = dialectTool({
  name: 'shell_exec',
  tool: 'shell',
  description: 'Run a shell command and return its combined output. Killed after 30 seconds. In a session, the folder and variables stay.',
  input: z.strictObject({ command: z.string().min(1).describe('Command to run.') }),
  adapt: ({ command }, { inSession }) => ({
    tool: 'shell',
    args: { command, timeout_ms: 30_000, ...(inSession ? { persistent: true } : {}) },
  }),
  result(result) {
    const streams = streamsOf(result);
    const texts = shellTexts(streams);
    if (streams.exitCode === 0) return texts.length === 0 ? 'command completed with no output' : { content: textParts(...texts) };
    const [first = '', ...rest] = texts;
    const text = failed('shell_exec', `command exited with status ${streams.exitCode}: ${first}`);
    return { content: textParts(text, ...rest), isError: true };
  },
});

const fileRead = dialectTool({
  name: 'file_read',
  tool: 'file_read',
  timeoutMs: 10_000,
  description: 'Read a UTF-8 text file.',
  input: z.strictObject({ path }),
  adapt: (args) => ({ tool: 'file_read', args }),
  refusal: (refusal) => failedTo('read', 'file_read', refusal),
});

const fileList = dialectTool({
  name: 'file_list',
  tool: 'file_list',
  timeoutMs: 10_000,
  description: 'List the entries of a folder, sorted; folders end with "/".',
  input: z.strictObject({ path: z.string().min(1).default('.').describe('Folder to list.') }),
  adapt: (args) => ({ tool: 'file_list', args }),
  refusal: (refusal) => failedTo('list', 'file_list', refusal),
});

const fileSearch = dialectTool({
  name: 'file_search',
  tool: 'file_search',
  timeoutMs: 20_000,
  description: 'Search the files of a folder for a plain text, at most 200 lines.',
  input: z.strictObject({ path, query: z.string().max(10_000).describe('Text to find.') }),
  adapt: ({ query, ...args }) => {
    if (query === '') throw new Error('query must not be empty');
    return { tool: 'file_search', args: { ...args, query, literal: true, case_sensitive: true, max_results: 200 } };
  },
  result: ({ facts }) => {
    const { found } = SearchFacts.parse(facts);
    return found.map(({ path: file, line, text }) => `${file}:${line ?? 0}:${text ?? ''}`).join('\n') || 'no matches found';
  },
});

const fileWrite = dialectTool({
  name: 'file_write',
  tool: 'file_write',
  timeoutMs: 15_000,
  description: 'Write a file, with missing parent folders.',
  input: z.strictObject({ path, content: z.string().describe('The whole content.') }),
  adapt: (args) => ({ tool: 'file_write', args }),
  result: ({ facts }) => {
    const { bytes, path: file } = ChangeFacts.parse(facts);
    return `wrote ${bytes} bytes to ${file}`;
  },
  refusal: (refusal) => failedTo('write', 'file_write', refusal),
});

const fileEdit = dialectTool({
  name: 'file_edit',
  tool: 'file_edit',
  timeoutMs: 15_000,
  description: 'Replace a snippet that occurs exactly once in a file.',
  input: z.strictObject({
    path,
    old_text: z.string().describe('Snippet to find.'),
    new_text: z.string().describe('What to put in its place.'),
  }),
  adapt: (args) => {
    if (args.old_text === '') throw new Error('old_text must not be empty');
    return { tool: 'file_edit', args };
  },
  result: ({ facts }) => `updated ${ChangeFacts.parse(facts).path}`,
  refusal: (refusal) => {
    const { message } = refusal;
    if (message.startsWith('old_text not found')) return failed('file_edit', 'old_text was not found in target file');
    const [, count] = /^old_text matches (\d+) locations/.exec(message) ?? [];
    if (count !== undefined) return failed('file_edit', `old_text matched ${count} locations; provide a more specific snippet`);
    return refusalText('file_edit', refusal);
  },
});

const fileDelete = dialectTool({
  name: 'file_delete',
  tool: 'file_delete',
  timeoutMs: 15_000,
  description: 'Delete a file, or a folder with all that is in it.',
  input: z.strictObject({ path }),
  adapt: (args) => ({ tool: 'file_delete', args }),
  result: ({ facts }) => {
    const { kind, path: file } = z.object({ kind: z.string(), path: z.string() }).parse(facts);
    return `deleted ${kind === 'file' ? 'file' : 'directory'} ${file}`;
  },
  refusal: (refusal) => failedTo('stat', 'file_delete', refusal),
});

const webFetch = dialectTool({
  name: 'web_fetch',
  tool: 'web_fetch',
  timeoutMs: 30_000,
  description: 'Fetch a URL. HTML becomes Markdown or text; of binary content only the metadata is returned.',
  input: z.strictObject({
    url: z.string().min(1).max(8_192).describe('http or https URL.'),
    output_format: z.enum(['auto', 'raw', 'text', 'metadata_only']).default('auto').describe('How the body is shown.'),
    max_body_chars: z.number().int().min(1).max(1_000_000).default(50_000).describe('Most characters of the body.'),
  }),
  adapt: ({ max_body_chars: max_chars, ...args }) => ({ tool: 'web_fetch', args: { ...args, max_chars } }),
  result: ({ args, facts }) => {
    const { url, status, mode, contentType, contentLength = null, title = null, note = null, body, truncated } = FetchFacts.parse(facts);
    const shown = mode === 'metadata_only' ? null : body + (truncated ? '\n\n[truncated]' : '');
    const format = args['output_format'] ?? 'auto';
    const about = { content_type: contentType, content_length: contentLength, body: shown, truncated, title, note };
    return JSON.stringify({ url, status, output_format: format, mode, ...about });
  },
});

const webSearch = dialectTool({
  name: 'web_search',
  tool: 'web_search',
  timeoutMs: 30_000,
  description: 'Search the web.',
  input: z.strictObject({
    query: z.string().min(1).max(10_000).describe('What to search for.'),
    count: z.number().int().min(1).max(10).default(5).describe('How many results.'),
    freshness: z.string().optional().describe('day, week, month or year.'),
  }),
  adapt: ({ freshness, ...args }) => {
    if (freshness !== undefined && !['day', 'week', 'month', 'year'].includes(freshness))
      throw new Error(`invalid freshness \`${freshness.slice(0, 40)}\`; expected one of day, week, month, year`);
    return { tool: 'web_search', args: definedFields({ ...args, freshness }) };
  },
  result: ({ facts }) => {
    const { query, provider, baseUrl = null, results } = WebSearchFacts.parse(facts);
    const shown = results.map((hit, index) => ({
      index: index + 1,
      title: hit.title,
      url: hit.url,
      display_url: hostOf(hit.url),
      snippet: hit.snippet,
    }));
    return JSON.stringify({ query, provider, base_url: baseUrl, result_count: shown.length, results: shown } satisfies JsonValue);
  },
});

const vaultCopyTo = dialectTool({
  name: 'vault_copyto',
  tool: 'file_copy',
  timeoutMs: 30_000,
  description: 'Copy a file from the vault into the workspace or a shared folder.',
  input: z.strictObject({ source_path: path, destination_path: path }),
  adapt: ({ source_path: source, destination_path: destination }) => ({
    tool: 'file_copy',
    args: { source, destination, overwrite: true },
  }),
  result: ({ facts }) => {
    const { bytes, path: file } = ChangeFacts.parse(facts);
    return `copied ${bytes} bytes to ${file}`;
  },
});

const note = z.string().min(1).max(128).describe('Id of the note.');
const content = z.string().max(32_768).describe('Text of the note.');

const memorySearch = dialectTool({
  name: 'memory_search',
  tool: 'memory_search',
  timeoutMs: 15_000,
  description: "Search the user's notes.",
  input: z.strictObject({
    query: z.string().min(1).max(2_000).describe('What to look for.'),
    top_k: z.number().int().min(1).max(20).default(5).describe('How many results.'),
    include_conversation: z.boolean().default(false).describe('Also earlier turns.'),
  }),
  adapt: (args) => ({ tool: 'memory_search', args }),
  result: ({ content: items }) => ({ content: items.slice(0, 1) }),
});

const memorySave = dialectTool({
  name: 'memory_save',
  tool: 'memory_save',
  timeoutMs: 10_000,
  description: 'Save a note about the user.',
  input: z.strictObject({ content }),
  adapt: (args) => ({ tool: 'memory_save', args: { content: nonBlank(args.content) } }),
});

const memoryUpdate = dialectTool({
  name: 'memory_update',
  tool: 'memory_update',
  timeoutMs: 10_000,
  description: 'Replace the text of a note.',
  input: z.strictObject({ note_id: note, content }),
  adapt: (args) => ({ tool: 'memory_update', args: { ...args, content: nonBlank(args.content) } }),
});

const memoryDelete = dialectTool({
  name: 'memory_delete',
  tool: 'memory_delete',
  timeoutMs: 10_000,
  description: 'Delete a note.',
  input: z.strictObject({ note_id: note }),
  adapt: (args) => ({ tool: 'memory_delete', args }),
});

function nonBlank(text: string): string {
  if (text.trim() === '') throw new Error('content must not be empty');
  return text;
}

/** The tools of oxydra's guidebook, chapter 4. */
export const dialect: Dialect = {
  name: 'oxydra',
  execution: POLICY_PROFILES.oxydra.execution,
  profile: 'oxydra',
  answers: {
    commands: {
      timedOut: (ms) => `tool timed out after ${seconds(ms)}`,
      failed: (code, output) => `command exited with status ${code}: ${output}`,
    },
    fetched,
  },
  tools: [
    shellExec,
    fileRead,
    fileList,
    fileSearch,
    fileWrite,
    fileEdit,
    fileDelete,
    webFetch,
    webSearch,
    vaultCopyTo,
    memorySearch,
    memorySave,
    memoryUpdate,
    memoryDelete,
  ],
  unknown: (name) => failed(name, `unknown tool \`${name}\``),
  refusal: refusalText,
};

function failed(tool: string, message: string): string {
  return `Tool execution failed: tool execution failed for ${tool}: ${message}`;
}

function refusalText(tool: string, refusal: Refusal): string {
  if (refusal.code === 'run_timeout') {
    const [, seconds] = /after ([\d.]+)s/.exec(refusal.message) ?? [];
    const [, ms] = /after ([\d,]+) ms/.exec(refusal.message) ?? [];
    return failed(tool, `tool timed out after ${seconds ?? Number((ms ?? '0').replaceAll(',', '')) / 1_000}s`);
  }
  if (refusal.code !== 'invalid_arguments') return failed(tool, reasonOf(refusal));
  const missing = missingParameter(refusal);
  const message = missing === undefined ? detailOf(refusal) : `missing required field '${missing}' in arguments`;
  return `Tool execution failed: invalid arguments for tool ${tool}: ${message}`;
}

function failedTo(verb: string, tool: string, refusal: Refusal): string {
  if (refusal.code !== 'tool_failed') return refusalText(tool, refusal);
  return failed(tool, `failed to ${verb} \`${String(refusal.args?.['path'])}\`: ${refusal.message}`);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** Fetched page as one JSON object, in the agent's format. */
function fetched({ url, status, mode, truncated, ...facts }: FetchedFacts, body: string, format: string | undefined): string {
  const { contentType, contentLength = null, title = null, note = null } = facts;
  const shown = mode === 'metadata_only' ? null : body + (truncated ? '\n\n[truncated]' : '');
  const numbers = { content_type: contentType, content_length: contentLength, body: shown, truncated, title, note };
  return JSON.stringify({ url, status, output_format: format, mode, ...numbers });
}
