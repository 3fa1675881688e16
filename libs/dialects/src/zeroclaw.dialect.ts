import { z } from 'zod';
import { POLICY_PROFILES, SCHEDULE_LIMITS } from '#contracts';
import { type CanonicalResult, type Dialect, dialectTool, definedFields, type Refusal, type Rendered } from './dialect.js';
import { FetchFacts, shellTexts, streamsOf, textParts } from './facts.js';
import { missingParameter, reasonOf } from './texts.js';

const STREAM_BYTES = 1_048_576;
const path = z.string().describe('Path of the file, relative to the workspace.');

const shell = dialectTool({
  name: 'shell',
  tool: 'shell',
  description: 'Execute a shell command in the workspace directory. Killed after 60 seconds.',
  input: z.strictObject({
    command: z.string().describe('The shell command to execute.'),
    approved: z.boolean().default(false).describe('Set true to approve a medium or high risk command explicitly.'),
  }),
  argumentAliases: { command: ['cmd', 'script', 'shell_command', 'bash', 'sh', 'command_line', 'input'] },
  rawArgument: 'command',
  adapt: ({ command, approved }) => ({
    tool: 'shell',
    args: { command: nonEmpty('command', command.trim()), timeout_ms: 60_000, ...(approved ? { approved } : {}) },
  }),
  result(result) {
    const streams = streamsOf(result, STREAM_BYTES, (stream) => `\n... [${stream} truncated at 1MB]`);
    return flat(shellTexts(streams), streams.exitCode === 0 ? undefined : `Exit code: ${streams.exitCode}`);
  },
  refusal: (refusal) => {
    if (refusal.code === 'policy_denied') return prefixed('Security policy violation: ', reasonOf(refusal));
    return refusalText(refusal);
  },
});

const fileRead = dialectTool({
  name: 'file_read',
  tool: 'file_read',
  description: 'Read the contents of a file in the workspace, at most 10 MB.',
  input: z.strictObject({
    path,
    offset: z.number().int().min(1).optional().describe('First line to read, counted from 1.'),
    limit: z.number().int().min(1).optional().describe('How many lines to read.'),
  }),
  adapt: (args) => ({ tool: 'file_read', args: { ...args, path: nonEmpty('path', args.path) } }),
  refusal: (refusal) => {
    if (refusal.code === 'policy_denied') return `Path not allowed by security policy: ${pathOf(refusal)}`;
    if (refusal.code !== 'tool_failed') return refusalText(refusal);
    return refusal.message.startsWith('File not found') ? refusal.message : prefixed('Failed to read file: ', refusal.message);
  },
});

const fileWrite = dialectTool({
  name: 'file_write',
  tool: 'file_write',
  description: 'Write a whole file in the workspace. Missing parent folders are created.',
  input: z.strictObject({ path, content: z.string().describe('The whole content of the file.') }),
  adapt: (args) => ({ tool: 'file_write', args: { ...args, path: nonEmpty('path', args.path) } }),
  refusal: (refusal) => {
    if (refusal.code === 'policy_denied')
      return /read-only/i.test(refusal.message) ? 'Read-only mode: cannot write files' : `Path not allowed: ${pathOf(refusal)}`;
    return refusal.code === 'tool_failed' ? prefixed('Failed to write file: ', refusal.message) : refusalText(refusal);
  },
});

const httpRequest = dialectTool({
  name: 'http_request',
  tool: 'http_request',
  description: 'Send an HTTP request to a public address. Redirects are not followed; at most 1,000,000 bytes of the body are returned.',
  input: z.strictObject({
    url: z.string().describe('http or https URL.'),
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']).default('GET').describe('HTTP method.'),
    headers: z.record(z.string(), z.string()).default({}).describe('Request headers.'),
    body: z.string().optional().describe('Request body.'),
  }),
  adapt: (args) => ({ tool: 'http_request', args: { ...args, url: webUrl(args.url) } }),
  result: ({ text, facts }) => {
    const { status } = z.object({ status: z.number() }).parse(facts);
    return flat(text, status >= 400 ? `HTTP ${status}` : undefined);
  },
  refusal: (refusal) => {
    const [, host] = /^Blocked: (\S+) (?:is|resolves to)/.exec(reasonOf(refusal)) ?? [];
    if (host !== undefined) return `Blocked local/private host: ${host}`;
    const [, unlisted] = /(\S+) is not (?:in|among) .*(?:domains|allowlist)/i.exec(reasonOf(refusal)) ?? [];
    return unlisted === undefined ? refusalText(refusal) : `Host '${unlisted}' is not in http_request.allowed_domains`;
  },
});

const webFetch = dialectTool({
  name: 'web_fetch',
  tool: 'web_fetch',
  description: 'Fetch a web page as plain text. Follows at most 10 redirects; at most 500,000 bytes are read.',
  input: z.strictObject({ url: z.string().describe('http or https URL.') }),
  adapt: ({ url }) => ({ tool: 'web_fetch', args: { url: webUrl(url), output_format: 'text', max_chars: 500_000, max_bytes: 500_000 } }),
  result: ({ facts }) => {
    const { mode, contentType, body, truncated } = FetchFacts.parse(facts);
    if (mode !== 'metadata_only') return flat(truncated ? `${body}\n... [Response truncated due to size limit] ...` : body);
    return flat(
      '',
      `Unsupported content type: ${contentType}. web_fetch supports text/html, text/plain, text/markdown, and application/json.`,
    );
  },
  refusal: (refusal) => {
    const [, status] = /^HTTP (\d{3}[^\n.]*)/.exec(refusal.message) ?? [];
    return status === undefined ? refusalText(refusal) : `HTTP ${status}`;
  },
});

const CATEGORIES = ['core', 'daily', 'conversation'];

const memoryStore = dialectTool({
  name: 'memory_store',
  tool: 'memory_store',
  description: 'Store a fact under a key. The same key replaces it.',
  input: z.strictObject({
    key: z.string().min(1).max(256).describe('Names the fact.'),
    content: z.string().min(1).max(32_768).describe('The fact.'),
    category: z.string().default('core').describe('core, daily or conversation.'),
  }),
  adapt: ({ category, ...args }) => ({
    tool: 'memory_store',
    args: { ...args, category: CATEGORIES.includes(category) ? category : 'core' },
  }),
});

const memoryRecall = dialectTool({
  name: 'memory_recall',
  tool: 'memory_recall',
  description: 'Find facts by what they are about.',
  input: z.strictObject({
    query: z.string().min(1).max(2_000).describe('What to look for.'),
    limit: z.number().int().min(1).max(50).default(5).describe('How many facts.'),
  }),
  adapt: (args) => ({ tool: 'memory_recall', args }),
  result: ({ content }) => ({ content: content.slice(0, 1) }),
});

const memoryForget = dialectTool({
  name: 'memory_forget',
  tool: 'memory_forget',
  description: 'Remove a fact.',
  input: z.strictObject({ key: z.string().min(1).max(256).describe('Key of the fact.') }),
  adapt: (args) => ({ tool: 'memory_forget', args }),
});

const delegate = dialectTool({
  name: 'delegate',
  tool: 'agent',
  description: 'Delegate a task to a sub-agent.',
  input: z.strictObject({
    agent: z.string().min(1).max(64).meta({ 'x-choices': 'agents' }).describe('Name of the agent.'),
    prompt: z.string().min(1).max(150_000).describe('The task.'),
    context: z.string().max(50_000).optional().describe('What the agent should know before.'),
  }),
  adapt: (args) => ({ tool: 'agent', args: definedFields(args) }),
  result: ({ args, text, isError }) => {
    const output = `[Agent '${String(args['agent'])}' (agentic)]\n${text === '' ? '[Empty response]' : text}`;
    return flat(output, isError ? text : undefined);
  },
});

const cronAdd = dialectTool({
  name: 'cron_add',
  tool: 'cron_add',
  description: 'Plan a shell command, or a task for a sub-agent.',
  input: z.strictObject({
    schedule: z
      .strictObject({
        kind: z.enum(['cron', 'at', 'every']),
        expr: z.string().min(1).max(256).optional(),
        tz: z.string().min(1).max(64).optional(),
        at: z.string().min(1).max(64).optional(),
        every_ms: z.number().int().min(1).max(SCHEDULE_LIMITS.everyMs).optional(),
      })
      .describe('When it runs.'),
    name: z.string().min(1).max(128).optional().describe('For people.'),
    job_type: z.enum(['shell', 'agent']).optional().describe('Not said: agent where prompt is given, else shell.'),
    command: z.string().min(1).max(65_536).optional().describe('For shell jobs.'),
    prompt: z.string().min(1).max(200_000).optional().describe('For agent jobs.'),
    agent: z.string().min(1).max(64).optional().meta({ 'x-choices': 'agents' }).describe('For agent jobs: the sub-agent.'),
  }),
  adapt: ({ job_type, command, prompt, agent, ...args }) => {
    const isAgent = (job_type ?? (prompt === undefined ? 'shell' : 'agent')) === 'agent';
    if (isAgent && prompt === undefined) throw new Error("Missing 'prompt' for agent job");
    if (isAgent && agent === undefined) throw new Error("Missing 'agent' for agent job");
    if (!isAgent && command === undefined) throw new Error("Missing 'command' for shell job");
    return { tool: 'cron_add', args: definedFields({ ...args, ...(isAgent ? { prompt, agent } : { command }) }) };
  },
  result: jsonText,
});

const cronList = dialectTool({
  name: 'cron_list',
  tool: 'cron_list',
  description: 'List the cron jobs.',
  input: z.strictObject({}),
  strict: true,
  adapt: () => ({ tool: 'cron_list', args: {} }),
  result: jsonText,
});

const cronRemove = dialectTool({
  name: 'cron_remove',
  tool: 'cron_remove',
  description: 'Remove a cron job.',
  input: z.strictObject({ job_id: z.string().min(1).max(64).describe('Id of the job.') }),
  adapt: (args) => ({ tool: 'cron_remove', args }),
});

/** Browser tool without actions on the whole screen, which zeroclaw itself rejects unless a separate program performs them. */
const browser = dialectTool({
  name: 'browser',
  tool: 'browser',
  description: 'Automate web pages. Use snapshot to map interactive elements to refs (@e1, @e2).',
  input: z.strictObject({
    action: z
      .enum('open snapshot click fill type get_text get_title get_url screenshot wait press hover scroll is_visible close find'.split(' '))
      .describe('What to do.'),
    url: z.string().min(1).max(8_192).optional().describe('open: the address.'),
    selector: z.string().min(1).max(1_000).optional().describe('Element: @ref (@e1), CSS (#id, .class) or text=...'),
    value: z.string().max(100_000).optional().describe('fill: the new content. find: what to look for.'),
    text: z.string().max(10_000).optional().describe('Text to type, or to wait for.'),
    key: z.string().min(1).max(100).optional().describe('Key to press: Enter, Tab, Escape.'),
    direction: z.enum(['up', 'down', 'left', 'right']).optional().describe('Where to scroll.'),
    pixels: z.number().int().min(1).max(100_000).optional().describe('How far to scroll.'),
    interactive_only: z.boolean().optional().describe('snapshot: only interactive elements.'),
    compact: z.boolean().optional().describe('snapshot: without elements that only group others.'),
    depth: z.number().int().min(1).max(100).optional().describe('snapshot: depth of the tree.'),
    full_page: z.boolean().optional().describe('screenshot: the full page.'),
    ms: z.number().int().min(0).max(15_000).optional().describe('Milliseconds to wait.'),
    by: z.enum(['role', 'text', 'label', 'placeholder', 'testid']).optional().describe('find: what value is.'),
    find_action: z.enum(['click', 'fill', 'text', 'hover', 'check']).optional().describe('find: what to do with the element.'),
    fill_value: z.string().max(100_000).optional().describe('find with fill: the new content.'),
  }),
  adapt: (args) => ({ tool: 'browser', args: definedFields(args) }),
});

/** The tools of zeroclaw's page "Tool System". */
export const dialect: Dialect = {
  name: 'zeroclaw',
  execution: POLICY_PROFILES.zeroclaw.execution,
  profile: 'zeroclaw',
  answers: {
    commands: {
      stream: { bytes: 1_048_576, cut: (stream) => `\n... [${stream === 'stderr' ? stream : 'output'} truncated at 1MB]` },
    },
  },
  tools: [
    shell,
    fileRead,
    fileWrite,
    httpRequest,
    webFetch,
    memoryStore,
    memoryRecall,
    memoryForget,
    delegate,
    cronAdd,
    cronList,
    cronRemove,
    browser,
  ],
  unknown: (name) => `Unknown tool: ${name}`,
  refusal: (_tool, refusal) => refusalText(refusal),
  finish: (rendered) => {
    if (rendered.structuredContent !== undefined) return rendered;
    const text = rendered.content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');
    return { ...rendered, structuredContent: { success: !rendered.isError, output: text } };
  },
};

/** `{success, output, error?}`; the model reads the error above the output. */
function flat(given: string | readonly string[], error?: string): Rendered {
  const success = error === undefined;
  const output = [given].flat().join('\n');
  const [first = '', ...rest] = [given].flat();
  const content = success ? textParts(first, ...rest) : textParts([error, ...(output === '' ? [] : [first])].join('\n'), ...rest);
  return { content, isError: !success, structuredContent: { success, output, ...(success ? {} : { error }) } };
}

/** The canonical answer, which is JSON. */
function jsonText({ content }: CanonicalResult): Rendered {
  return flat(content.map((item) => (item.type === 'json' ? JSON.stringify(item.json) : item.type === 'text' ? item.text : '')).join('\n'));
}

function refusalText(refusal: Refusal): string {
  const missing = refusal.code === 'invalid_arguments' ? missingParameter(refusal) : undefined;
  return missing === undefined ? reasonOf(refusal) : `Missing '${missing}' parameter`;
}

function prefixed(prefix: string, text: string): string {
  return text.startsWith(prefix) ? text : prefix + text;
}

function pathOf({ args = {} }: Refusal): string {
  const { path: given } = args;
  return typeof given === 'string' ? given : '';
}

/** @throws Error for an empty text */
function nonEmpty(name: string, text: string): string {
  if (text === '') throw new Error(`missing '${name}' parameter`);
  return text;
}

/** @throws Error with the text of the agent */
function webUrl(text: string): string {
  const url = text.trim();
  if (url === '') throw new Error('URL cannot be empty');
  if (!/^https?:\/\//i.test(url)) throw new Error('Only http:// and https:// URLs are allowed');
  if (URL.canParse(url) && new URL(url).username !== '') throw new Error('URL userinfo is not allowed');
  return url;
}
