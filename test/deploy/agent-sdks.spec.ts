import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ToolyardClient } from '#client';
import { startScriptedModel } from '../../apps/examples/src/scripted-model.js';
import { eventually } from '../support/eventually.js';
import { follow, type Place } from '../support/guide.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';
import { checkSnippets, installSdks, node22In, prepareGuides, type PackageFolder } from './agent-sdk-packages.js';

interface Sdk {
  readonly name: string;
  readonly program: string;
  readonly folder: PackageFolder;
  /** True for an SDK that does not run on Node 20. */
  readonly needsNode22?: true;
  /** The SDK has a mark for results that are errors. */
  readonly marksErrors?: true;
  /** True for an SDK with an MCP client. */
  readonly mcp?: true;
}

const SDKS: readonly Sdk[] = [
  { name: 'AI SDK 6', program: 'ai-sdk', folder: 'six', marksErrors: true, mcp: true },
  { name: 'AI SDK 7', program: 'ai-sdk', folder: 'seven', needsNode22: true, marksErrors: true, mcp: true },
  { name: 'LangChain', program: 'langchain', folder: 'six', marksErrors: true, mcp: true },
  { name: 'OpenAI Agents', program: 'openai-agents', folder: 'six', needsNode22: true, mcp: true },
  { name: 'a loop on the APIs of OpenAI', program: 'openai', folder: 'six', needsNode22: true },
  { name: 'the tool runner of Anthropic', program: 'anthropic', folder: 'six', marksErrors: true },
  { name: 'a loop on the API of Anthropic', program: 'anthropic-loop', folder: 'six', marksErrors: true },
];

let toolyard: TestCluster;
let client: ToolyardClient;
let root: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'toolyard-agents-'));
  [toolyard] = await Promise.all([startTestCluster({ lists: true }), installSdks(root, 'six'), installSdks(root, 'seven')]);
  client = new ToolyardClient({ baseUrl: url(), apiKey: TEST_KEY });
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await toolyard?.close();
  rmSync(root, { recursive: true, force: true });
});

const url = () => toolyard.gateways[0]?.url ?? '';

const Report = z.object({
  offered: z.array(z.looseObject({})),
  read: z.array(z.object({ id: z.string(), text: z.string(), isError: z.boolean().optional() })),
  preliminary: z.array(z.looseObject({ status: z.string(), text: z.string() })).optional(),
  aborted: z.boolean(),
});

interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/** An agent as a process of its own, whose scripted model makes these calls. */
function startAgent({ program, folder, needsNode22 }: Sdk, sessionId: string, calls: readonly ModelCall[], over = 'http') {
  const node = needsNode22 ? node22In(root) : process.execPath;
  const env = { TOOLYARD_URL: url(), TOOLYARD_API_KEY: TEST_KEY, SESSION: sessionId, CALLS: JSON.stringify(calls), OVER: over };
  const child = spawn(node, ['--enable-source-maps', `${program}.fixture.mjs`], {
    cwd: join(root, folder),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => (out += String(piece)));
  child.stderr.on('data', (piece) => (err += String(piece)));
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const report = async () => {
    const patience = setTimeout(() => child.kill('SIGQUIT'), 300_000);
    await ended;
    clearTimeout(patience);
    if (child.signalCode === 'SIGQUIT')
      throw new Error(`${program} did not end; its calls: ${JSON.stringify(await callsOf(sessionId))} ${err}`);
    if (child.exitCode !== 0) throw new Error(`${program} ended with ${child.exitCode}: ${err}${out}`);
    return Report.parse(JSON.parse(out));
  };
  return { child, ended, report };
}

const file = (sessionId: string, name: string) => join(toolyard.workspaceRoot, 'default/sessions', sessionId, name);
const callsOf = async (sessionId: string) => (await client.calls.list({ sessionId: [sessionId] })).calls;

/** The call that is there while its agent waits for it. */
async function callThatIs(status: string, sessionId: string, agent: ReturnType<typeof startAgent>): Promise<string> {
  const call = await eventually(async () => {
    if (agent.child.exitCode !== null) throw new Error(`the agent did not wait: ${JSON.stringify(await agent.report())}`);
    return (await callsOf(sessionId)).find((it) => it.status === status);
  }, `a call that is ${status}`);
  return call.id;
}

describe.each(SDKS)('an agent on $name', (sdk) => {
  const session = (what: string) => `${sdk.program}-${sdk.folder}-${what}`;

  it('returns results of an agent SDK to the model, and denials as texts', async () => {
    const sessionId = session('results');
    await client.sessions.put(sessionId, { grants: { deniedPaths: { read: ['**/secret.txt'], write: [] } } });
    const calls = [
      { id: 'call_1', name: 'shell', input: { command: 'echo hello' } },
      { id: 'call_2', name: 'file_read', input: { path: 'secret.txt' } },
    ];
    const { read, offered, preliminary } = await startAgent(sdk, sessionId, calls).report();
    expect(read).toMatchObject([
      { id: 'call_1', text: expect.stringContaining('hello'), ...(sdk.marksErrors ? { isError: false } : {}) },
      { id: 'call_2', text: expect.stringContaining('denied'), ...(sdk.marksErrors ? { isError: true } : {}) },
    ]);
    expect(offered).toContainEqual(expect.objectContaining({ name: 'shell' }));
    if (preliminary !== undefined) expect(preliminary).toContainEqual(expect.objectContaining({ status: 'running', text: 'hello\n' }));
    expect(Object.fromEntries((await callsOf(sessionId)).map(({ toolCallId, outcome }) => [toolCallId, outcome]))).toEqual({
      call_1: 'completed',
      call_2: 'denied',
    });
  });

  it('gets the result of a call of an agent SDK after a restart in the middle of an approval', async () => {
    const sessionId = session('approval');
    await client.sessions.put(sessionId, { posture: { permissionMode: 'prompt' } });
    const calls = [{ id: 'call_1', name: 'shell', input: { command: 'echo run >> runs; echo approved' } }];
    const first = startAgent(sdk, sessionId, calls);
    const id = await callThatIs('waiting_approval', sessionId, first);
    first.child.kill('SIGKILL');
    await first.ended;

    const second = startAgent(sdk, sessionId, calls);
    await client.calls.decide(id, { decision: 'allow' });
    expect((await second.report()).read).toMatchObject([{ id: 'call_1', text: expect.stringContaining('approved') }]);
    expect(readFileSync(file(sessionId, 'runs'), 'utf8')).toBe('run\n');
    expect((await callsOf(sessionId)).map((call) => call.id)).toEqual([id]);
  });

  it('cancels the call of an agent SDK when it is aborted', async () => {
    const sessionId = session('abort');
    const agent = startAgent(sdk, sessionId, [{ id: 'call_1', name: 'shell', input: { command: 'sleep 600' } }]);
    const id = await callThatIs('running', sessionId, agent);
    agent.child.kill('SIGUSR2');
    expect((await agent.report()).aborted).toBe(true);
    expect((await client.calls.wait(id)).outcome).toBe('cancelled');
  });
});

describe.each(SDKS.filter(({ mcp }) => mcp))('the MCP client of $name', (sdk) => {
  it('offers the tools of /mcp to the model of an agent SDK, with results and errors', async () => {
    const marker = `mcp${sdk.program}${sdk.folder}`.replaceAll('-', '');
    const calls = [
      { id: 'call_1', name: 'shell', input: { command: `echo "$((20 + 22)) ${marker}"` } },
      { id: 'call_2', name: 'file_read', input: { path: `${marker}.txt` } },
    ];
    const { offered, read } = await startAgent(sdk, marker, calls, 'mcp').report();
    expect(offered.map(({ name }) => name)).toEqual(expect.arrayContaining(['call_result', 'file_read', 'shell']));
    expect(read).toMatchObject([
      { id: 'call_1', text: expect.stringContaining(`42 ${marker}`) },
      { id: 'call_2', text: expect.stringContaining(`${marker}.txt`) },
    ]);
    const made = async () => (await client.calls.list({ q: marker })).calls;
    const outcomes = await eventually(async () => {
      const found = (await made()).map(({ tool, isError }) => [tool, isError]);
      return found.length === 2 && found.every(([, isError]) => isError !== undefined) ? found : undefined;
    }, 'both calls in the list');
    expect(Object.fromEntries(outcomes)).toEqual({ shell: false, file_read: true });
  });
});

describe('the guide', () => {
  let model: Awaited<ReturnType<typeof startScriptedModel>>;
  let place: Place;

  beforeAll(async () => {
    model = await startScriptedModel();
    const { folder, path } = prepareGuides(root);
    const replacements = { 'http://127.0.0.1:7411': url(), 'https://api.openai.com/v1': `${model.url}/v1`, '<key>': TEST_KEY };
    place = { folder, replacements, env: { PATH: `${path}:${process.env['PATH']}` } };
  });
  afterAll(() => model?.close());

  it.each(['ai-sdk', 'langchain', 'openai'])('follows the guide %s', (name) => follow(`deploy/guides/${name}.md`, place));
});

describe("the snippets of the adapters' README", () => {
  it("checks the types of the snippets of the adapters' README with the SDKs", async () => {
    expect(await Promise.all([checkSnippets(root, 'six'), checkSnippets(root, 'seven', ['AI SDK'])])).toEqual(['', '']);
  });
});
