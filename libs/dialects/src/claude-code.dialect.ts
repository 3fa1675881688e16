import { z } from 'zod';
import { POLICY_PROFILES } from '#contracts';
import { CLAUDE_CODE_AGENTS } from './claude-code-agents.js';
import { CLAUDE_CODE_COMMANDS } from './claude-code-commands.js';
import { json, jsonText, refusalText } from './claude-code-texts.js';
import { type CanonicalResult, type Dialect, dialectTool, definedFields } from './dialect.js';
import { ChangeFacts, FetchFacts, GlobFacts, LinesFacts, SearchFacts, WebSearchFacts } from './facts.js';

// File of over 300 lines: a table of one agent's tools, each independent. Larger families have files of their own.
const GLOB_FILES = 100;
const PREVIEW_CHARACTERS = 900;
const SEARCH_HITS = 8;

const path = z.string().min(1).describe('Path, relative to the workspace.');
const count = z.number().int().min(0).max(1_000_000);

const readFile = dialectTool({
  name: 'read_file',
  tool: 'file_read',
  description: 'Read a text file, whole or by lines.',
  input: z.strictObject({
    path,
    offset: count.optional().describe('Lines to pass over.'),
    limit: z.number().int().min(1).optional().describe('How many lines to read.'),
  }),
  adapt: ({ offset, ...args }) => ({
    tool: 'file_read',
    args: definedFields({ ...args, offset: offset === undefined ? undefined : offset + 1 }),
  }),
  result: ({ args, content, facts }) => {
    const { data } = LinesFacts.safeParse(facts);
    return data === undefined ? { content } : json({ type: 'text', file: { filePath: String(args['path']), ...data } });
  },
});

const writeFile = dialectTool({
  name: 'write_file',
  tool: 'file_write',
  description: 'Write a whole text file: creates it or replaces what is there.',
  input: z.strictObject({ path, content: z.string().describe('The whole content.') }),
  adapt: (args) => ({ tool: 'file_write', args }),
  result: ({ args, facts }) => {
    const { path: filePath, created = false, before = null, diff } = ChangeFacts.parse(facts);
    // Patch of a new file is empty: the whole content is in the answer.
    const about = { structuredPatch: created ? [] : (diff?.hunks ?? []), originalFile: created ? null : before, gitDiff: null };
    return json({ type: created ? 'create' : 'update', filePath, content: String(args['content']), ...about });
  },
});

const editFile = dialectTool({
  name: 'edit_file',
  tool: 'file_edit',
  description: 'Replace text in a file: its first occurrence, or all with replace_all.',
  input: z.strictObject({
    path,
    old_string: z.string().describe('Text to find.'),
    new_string: z.string().describe('Text to put in its place.'),
    replace_all: z.boolean().optional().describe('Replace every occurrence.'),
  }),
  adapt: ({ path: file, old_string: old_text, new_string: new_text, replace_all = false }) => {
    if (old_text === new_text) throw new Error('old_string and new_string must differ');
    if (old_text === '') throw new Error('old_string must not be empty');
    return { tool: 'file_edit', args: { path: file, old_text, new_text, ...(replace_all ? { replace_all } : { first_match: true }) } };
  },
  result: ({ args, facts }) => {
    const { path: filePath, before = null, diff } = ChangeFacts.parse(facts);
    const texts = { oldString: String(args['old_text']), newString: String(args['new_text']), originalFile: before };
    const about = { structuredPatch: diff?.hunks ?? [], userModified: false, replaceAll: args['replace_all'] === true, gitDiff: null };
    return json({ filePath, ...texts, ...about });
  },
  refusal: (refusal) => (refusal.message.startsWith('old_text not found') ? 'old_string not found in file' : refusalText(refusal)),
});

const globSearch = dialectTool({
  name: 'glob_search',
  tool: 'glob',
  description: 'Find files by a glob pattern, newest first, at most 100.',
  input: z.strictObject({ pattern: z.string().min(1).max(1_000), path: z.string().min(1).optional().describe('Folder to search in.') }),
  adapt: (args) => ({ tool: 'glob', args: definedFields({ ...args, limit: GLOB_FILES }) }),
  result: ({ facts, tookMs }) => {
    const { files, truncated } = GlobFacts.parse(facts);
    return json({ durationMs: tookMs, numFiles: files.length, filenames: files, truncated });
  },
});

const grepSearch = dialectTool({
  name: 'grep_search',
  tool: 'file_search',
  description: 'Search files for a regular expression: names of files, matching lines (content) or their number (count).',
  input: z.strictObject({
    pattern: z.string().min(1).max(10_000).describe('Regular expression.'),
    path: z.string().min(1).optional().describe('Folder or file to search in.'),
    glob: z.string().min(1).max(1_000).optional().describe('Only files that match this glob.'),
    output_mode: z.enum(['content', 'files_with_matches', 'count']).default('files_with_matches').describe('What is shown.'),
    '-B': count.optional().describe('Lines before each match.'),
    '-A': count.optional().describe('Lines after each match.'),
    '-C': count.optional().describe('Lines before and after each match.'),
    context: count.optional().describe('As -C.'),
    '-n': z.boolean().default(true).describe('Show numbers of lines.'),
    '-i': z.boolean().default(false).describe('Upper and lower case are the same.'),
    type: z.string().optional().describe('Only files of this type, such as "ts".'),
    head_limit: count.default(250).describe('How many results to show.'),
    offset: count.default(0).describe('Results to pass over.'),
    multiline: z.boolean().default(false).describe('A match may go over several lines.'),
  }),
  adapt: ({ pattern, path: folder, glob: include, output_mode, offset, multiline, type, head_limit, ...args }) => {
    if (type !== undefined && !/^[a-z0-9+_-]{1,40}$/.test(type)) throw new Error('type must be the name of a file type, such as "ts"');
    const around = { context: lines(args['-C'] ?? args.context), before: lines(args['-B']), after: lines(args['-A']) };
    const max_results = Math.max(1, Math.min(head_limit === 0 ? 1_000 : head_limit, 1_000));
    const more = { case_sensitive: !args['-i'], offset: offset === 0 ? undefined : offset, multiline: multiline ? true : undefined };
    return {
      tool: 'file_search',
      args: definedFields({ query: pattern, path: folder, include, type, output_mode, max_results, ...around, ...more }),
      hints: { numbers: args['-n'], limit: max_results, offset },
    };
  },
  result: grepResult,
});

function grepResult({ args, facts, hints }: CanonicalResult): string {
  const { found, truncated } = SearchFacts.parse(facts);
  const { output_mode: mode = 'content' } = z.object({ output_mode: z.string().optional() }).parse(args);
  const filenames = [...new Set(found.map((hit) => hit.path))];
  const shown = found.map(({ path: file, line, text = '', count: number, matches = true }) => {
    if (mode === 'count') return `${file}:${number ?? 0}`;
    const mark = matches ? ':' : '-';
    return hints['numbers'] === true ? `${file}${mark}${line ?? 0}${mark}${text}` : `${file}${mark}${text}`;
  });
  const content = mode === 'content' ? { content: shown.join('\n'), numLines: shown.length } : { content: null, numLines: null };
  const numMatches = mode === 'count' ? found.reduce((sum, { count: number = 0 }) => sum + number, 0) : null;
  const limits = { appliedLimit: truncated ? Number(hints['limit']) : null, appliedOffset: Number(hints['offset']) || null };
  return json({ mode, numFiles: filenames.length, filenames: mode === 'content' ? [] : filenames, ...content, numMatches, ...limits });
}

const webFetch = dialectTool({
  name: 'WebFetch',
  tool: 'web_fetch',
  timeoutMs: 20_000,
  description: 'Fetch a web page and answer a prompt about it. http becomes https, except for localhost.',
  input: z.strictObject({
    url: z.string().min(1).max(8_192).describe('URL of the page.'),
    prompt: z.string().describe('What to find out.'),
  }),
  adapt: ({ url, prompt }) => {
    const asks = /\btitle\b/i.test(prompt) ? 'title' : /\bsummar/i.test(prompt) ? 'summary' : 'preview';
    return { tool: 'web_fetch', args: { url: upgraded(url), output_format: 'text' }, hints: { asks } };
  },
  result: ({ facts, hints, tookMs, cut }) => {
    const { url, status, statusText, title, body, bytes } = FetchFacts.parse(facts);
    const preview = cut(body.replaceAll(/\s+/g, ' ').trim(), PREVIEW_CHARACTERS, '…');
    const said = hints['asks'] === 'title' && title !== undefined ? `Title: ${title}` : preview;
    return json({ bytes, code: status, codeText: statusText, result: `Fetched ${url}\n${said}`, durationMs: tookMs, url });
  },
});

/** URL with `http:` replaced by `https:`. The canonical tool rejects invalid URLs. */
function upgraded(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(parsed.hostname);
  return parsed.protocol === 'http:' && !isLocal ? url.replace(/^http:/i, 'https:') : url;
}

const webSearch = dialectTool({
  name: 'WebSearch',
  tool: 'web_search',
  description: 'Search the web, at most 8 hits.',
  input: z.strictObject({
    query: z.string().min(2).max(10_000).describe('What to search for.'),
    allowed_domains: z.array(z.string().min(1).max(255)).max(50).optional().describe('Only results of these domains.'),
    blocked_domains: z.array(z.string().min(1).max(255)).max(50).optional().describe('No results of these domains.'),
  }),
  adapt: (args) => ({ tool: 'web_search', args: definedFields({ ...args, count: SEARCH_HITS }) }),
  result: ({ facts, tookMs, toolCallId }) => {
    const { query, results } = WebSearchFacts.parse(facts);
    const content = results.map(({ title, url }) => ({ title, url }));
    const summary = content.map(({ title, url }) => `- [${title}](${url})`).join('\n');
    const commentary =
      content.length === 0 ? `No web search results matched the query "${query}".` : `Search results for "${query}":\n${summary}`;
    return json({ query, results: [commentary, { tool_use_id: toolCallId ?? null, content }], durationSeconds: tookMs / 1_000 });
  },
});

const todoWrite = dialectTool({
  name: 'TodoWrite',
  tool: 'todo_write',
  description: 'Replace the todo list of the session.',
  input: z.strictObject({
    todos: z
      .array(
        z.strictObject({
          content: z.string().max(500),
          activeForm: z.string().max(500),
          status: z.enum(['pending', 'in_progress', 'completed']),
        }),
      )
      .max(100),
  }),
  adapt: (args) => ({ tool: 'todo_write', args }),
  result: jsonText,
});

const notebookEdit = dialectTool({
  name: 'NotebookEdit',
  tool: 'notebook_edit',
  description: 'Replace, insert or delete a cell of a Jupyter notebook.',
  input: z.strictObject({
    notebook_path: z.string().min(1).describe('Path of the .ipynb file.'),
    cell_id: z.string().min(1).optional().describe('Cell to change; insert puts the new one after it.'),
    new_source: z.string().optional().describe('New content; not for delete.'),
    cell_type: z.enum(['code', 'markdown']).optional(),
    edit_mode: z.enum(['replace', 'insert', 'delete']).default('replace'),
  }),
  adapt: ({ notebook_path, ...args }) => ({ tool: 'notebook_edit', args: definedFields({ ...args, path: notebook_path }) }),
  result: ({ args, facts }) => {
    const { path: notebook_path, before = '', after = '' } = ChangeFacts.parse(facts);
    const { cellId, cellType } = z.object({ cellId: z.string(), cellType: z.string() }).parse(facts);
    const { edit_mode = 'replace', new_source = '' } = args;
    const cell = {
      new_source: String(new_source),
      cell_id: cellId,
      cell_type: cellType,
      language: languageOf(after),
      edit_mode: String(edit_mode),
    };
    return json({ ...cell, notebook_path, original_file: before, updated_file: after });
  },
});

const Notebook = z.object({ metadata: z.object({ kernelspec: z.object({ language: z.string() }) }) });

function languageOf(notebook: string): string {
  try {
    return Notebook.safeParse(JSON.parse(notebook)).data?.metadata.kernelspec.language ?? 'python';
  } catch {
    return 'python';
  }
}

const sleep = dialectTool({
  name: 'Sleep',
  tool: 'sleep',
  description: 'Wait for a time.',
  input: z.strictObject({ duration_ms: z.number().int().min(0).max(86_400_000).describe('Milliseconds.') }),
  adapt: (args) => ({ tool: 'sleep', args }),
  result: ({ args, text }) => json({ duration_ms: Number(args['duration_ms']), message: text }),
});

const config = dialectTool({
  name: 'Config',
  tool: 'config',
  description: 'Get or set a setting of the session.',
  input: z.strictObject({
    setting: z.string().min(1).max(100).describe('Name of the setting.'),
    value: z
      .union([z.string().max(200), z.boolean(), z.number()])
      .optional()
      .describe('New value; not said, the setting is read.'),
  }),
  adapt: (args) => ({ tool: 'config', args: definedFields(args) }),
  result: jsonText,
});

const sendUserMessage = dialectTool({
  name: 'SendUserMessage',
  tool: 'send_user_message',
  description: 'Send a message to the user.',
  input: z.strictObject({
    message: z.string().max(4_000).describe('The message.'),
    status: z.enum(['normal', 'proactive']).describe('proactive: not as an answer.'),
    attachments: z.array(z.string().min(1).max(1_024)).max(10).optional().describe('Paths of files.'),
  }),
  adapt: (args) => {
    if (args.message.trim() === '') throw new Error('message must not be empty');
    return { tool: 'send_user_message', args: definedFields(args) };
  },
  result: jsonText,
});

const structuredOutput = dialectTool({
  name: 'StructuredOutput',
  tool: 'structured_output',
  description: 'Give the final answer as an object of any form.',
  input: z.looseObject({}),
  adapt: (args) => ({ tool: 'structured_output', args }),
  result: jsonText,
});

/** The tools of the book about claw-code, a port of Claude Code. */
export const dialect: Dialect = {
  name: 'claude-code',
  execution: POLICY_PROFILES.claw.execution,
  profile: 'claw',
  answers: {
    commands: { timedOut: (ms) => `Command exceeded timeout of ${Math.round(ms)} ms` },
  },
  tools: [
    ...CLAUDE_CODE_COMMANDS,
    readFile,
    writeFile,
    editFile,
    globSearch,
    grepSearch,
    webFetch,
    webSearch,
    todoWrite,
    notebookEdit,
    sleep,
    config,
    sendUserMessage,
    structuredOutput,
    ...CLAUDE_CODE_AGENTS,
  ],
  hookDenial: (tool, reason) => `PreToolUse hook denied tool \`${tool}\`${reason === undefined ? '' : `: ${reason}`}`,
  namesInRules: {
    Bash: 'shell',
    BashOutput: 'shell_output',
    Edit: 'file_edit',
    Glob: 'glob',
    Grep: 'file_search',
    KillShell: 'shell_stop',
    LS: 'file_list',
    Monitor: 'shell',
    MultiEdit: 'file_edit',
    Read: 'file_read',
    Task: 'agent',
    Write: 'file_write',
  },
  unknown: (name) => `unknown tool: ${name}`,
  refusal: (_tool, refusal) => refusalText(refusal),
};

function lines(number: number | undefined): number | undefined {
  return number === undefined ? undefined : Math.min(number, 20);
}
