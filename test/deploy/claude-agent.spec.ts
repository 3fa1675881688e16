import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import type { PermissionMode } from '#contracts';
import { programOf } from '../support/app-program.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';
import { installSdks } from './agent-sdk-packages.js';

/** Key without the right to answer approvals, so nothing asks the user of Claude Code. */
const AGENT_KEY = 'key-of-the-agent-of-claude-code';

let root: string;
let toolyard: TestCluster;
let client: ToolyardClient;
let models: ModelServer;
let started: ReturnType<typeof startAgents>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'toolyard-claude-'));
  const keys = [{ id: 'claude', key: AGENT_KEY, tenant: 'default', users: ['*'], scopes: ['submit', 'read', 'cancel'] }];
  [toolyard, models] = await Promise.all([
    startTestCluster({ lists: true, config: { keys } }),
    startModelServer(),
    installSdks(root, 'claude'),
  ]);
  client = new ToolyardClient({ baseUrl: toolyard.agent.url, apiKey: TEST_KEY, WebSocket: false });
  started = startAgents();
  // The tests see a rejection.
  await Promise.allSettled(Object.values(started));
});
afterAll(async () => {
  client?.close();
  await models?.close();
  await toolyard?.close();
  rmSync(root, { recursive: true, force: true });
});

interface ToolResult {
  readonly type: string;
  readonly tool_use_id: string;
  readonly content: unknown;
  readonly is_error?: boolean;
}

/** An agent whose model asks for these tools at once, then ends. What it was offered, and what it has read of each. */
async function runAgent(sessionId: string, uses: readonly (readonly [name: string, input: object])[]) {
  const toolCalls = uses.map(([name, input], index) => ({ id: `toolu_${index + 1}`, name, arguments: input }));
  const model = `scripted-${sessionId}`;
  models.on(model, [{ toolCalls }, { text: 'Done.' }]);
  const home = join(root, 'home', sessionId);
  mkdirSync(home, { recursive: true });
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    TOOLYARD_URL: toolyard.agent.url,
    TOOLYARD_API_KEY: AGENT_KEY,
    TOOLYARD_CLI: programOf('cli'),
    SESSION: sessionId,
    MODEL: model,
    CALLS: '[]',
    ANTHROPIC_BASE_URL: models.url.replace(/\/v1$/, ''),
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Else the model gets the tools of servers after a search for them.
    ENABLE_TOOL_SEARCH: 'false',
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['claude-agent.fixture.mjs'], { cwd: join(root, 'claude'), env });
  expect(stdout).toBe('success\n');
  const [first, second] = models.calls(model);
  const content: readonly ToolResult[] = second?.body.messages.at(-1).content;
  return {
    offered: first?.body.tools.map(({ name }: { name: string }) => name),
    read: content.map(({ tool_use_id: id, is_error: isError = false, content: text }) => ({ id, isError, text: JSON.stringify(text) })),
  };
}

/** The agents of all tests at once: each takes seconds to start. */
function startAgents() {
  const inSession = async (sessionId: string, permissionMode: PermissionMode, uses: Parameters<typeof runAgent>[1]) => {
    await client.sessions.put(sessionId, { posture: { permissionMode } });
    return runAgent(sessionId, uses);
  };
  return {
    tools: runAgent('claude', [
      ['mcp__toolyard__shell', { command: 'echo "$((20 + 22)) from the shell"' }],
      ['mcp__toolyard__file_read', { path: 'missing.txt' }],
    ]),
    locked: inSession('claude-locked', 'read-only', [['Bash', { command: `touch ${madeByBash()}` }]]),
    approval: inSession('claude-approval', 'prompt', APPROVED),
  };
}

const APPROVED = [['mcp__toolyard__shell', { command: 'echo run >> runs; echo approved' }]] as const;
const madeByBash = () => join(root, 'made-by-bash');
const callsOf = async (sessionId: string) => (await client.calls.list({ sessionId: [sessionId] })).calls;

it('offers the tools of Toolyard to the model of the Claude Agent SDK, with results and errors', async () => {
  const { offered, read } = await started.tools;
  expect(offered).toEqual(expect.arrayContaining(['Bash', 'mcp__toolyard__file_read', 'mcp__toolyard__shell']));
  expect(read).toMatchObject([
    { id: 'toolu_1', isError: false, text: expect.stringContaining('42 from the shell') },
    { id: 'toolu_2', isError: true, text: expect.stringContaining('missing.txt') },
  ]);
  const made = (await callsOf('claude')).map(({ tool, toolCallId }) => [toolCallId, tool]);
  expect(Object.fromEntries(made)).toEqual({ toolu_1: 'shell', toolu_2: 'file_read' });
});

it('asks the policy about a tool of the Claude Agent SDK itself, which does not run if denied', async () => {
  const { read } = await started.locked;
  expect(read).toMatchObject([{ id: 'toolu_1', isError: true, text: expect.stringContaining('Toolyard denies it') }]);
  expect(existsSync(madeByBash())).toBe(false);
  expect(await callsOf('claude-locked')).toEqual([]);
});

it('gives a restarted agent of the Claude Agent SDK the result of a call approved in between', async () => {
  const sessionId = 'claude-approval';
  const [asked] = (await started.approval).read;
  expect(asked).toMatchObject({ text: expect.stringContaining('A person can approve it') });
  const [waiting] = await callsOf(sessionId);
  expect(waiting).toMatchObject({ status: 'waiting_approval', toolCallId: 'toolu_1' });

  await client.calls.decide(waiting?.id ?? '', { decision: 'allow' });
  const [answered] = (await runAgent(sessionId, APPROVED)).read;
  expect(answered).toMatchObject({ isError: false, text: expect.stringContaining('approved') });
  expect((await callsOf(sessionId)).map(({ id }) => id)).toEqual([waiting?.id]);
  expect(readFileSync(join(toolyard.workspaceRoot, 'default/sessions', sessionId, 'runs'), 'utf8')).toBe('run\n');
});
