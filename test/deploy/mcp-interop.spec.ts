import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { SafetySettings, type Call } from '#contracts';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.mjs';
import { BOOTSTRAP_KEY } from '../support/gateway.js';
import { startBridge, type Bridge } from '../support/mcp-bridge.js';
import { connectMcp, type TestClient } from '../support/mcp-clients.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';
import { installPackages } from '../support/npm-packages.js';
import { serveWeb, type WebServer } from '../support/serve-web.js';

const NODE = `node-${process.platform}-${process.arch}`;
const PACKAGES = [
  '@modelcontextprotocol/server-everything@2026.8.31',
  '@modelcontextprotocol/server-filesystem@2026.8.31',
  '@modelcontextprotocol/server-memory@2026.8.31',
  // Package that needs Node 22.
  '@modelcontextprotocol/inspector@2.12.0',
  `${NODE}@22`,
  'mcp-remote@0.15.1',
];

type Step = { readonly progress: number; readonly total?: number | undefined };
interface Reached {
  call(name: string, args?: Record<string, unknown>, onprogress?: (step: Step) => void): Promise<object>;
  names(): Promise<readonly string[]>;
}

/** Installation with the reference servers of the protocol from npm as sources, and its clients from npm at `/mcp`. */
describe('software of the Model Context Protocol from npm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-mcp-packages-'));
  const modules = join(folder, 'node_modules');
  const own = (name: string) => join(modules, '@modelcontextprotocol', name, 'dist/index.js');
  const direct: Client[] = [];
  let bridge: Bridge;
  let client: TestClient;
  let models: ModelServer;
  /** `everything` once more, over HTTP, behind a proxy that notes what Toolyard sends. */
  let online: { readonly program: ChildProcess; readonly proxy: WebServer; readonly sent: string[] };

  /** The program of a server, in a folder of its own that is its working directory. */
  const servers = {
    everything: [process.execPath, own('server-everything'), 'stdio'],
    files: ['sh', '-c', `exec ${process.execPath} ${own('server-filesystem')} "$PWD"`],
    memory: ['sh', '-c', `MEMORY_FILE_PATH="$PWD/memory.jsonl" exec ${process.execPath} ${own('server-memory')}`],
  } as const;
  type Name = keyof typeof servers;

  beforeAll(async () => {
    [models] = await Promise.all([startModelServer(), installPackages(folder, PACKAGES)]);
    online = await startOnline();
    const model = { provider: 'openai-compatible', name: 'operators', url: models.url };
    const sources = Object.entries(servers).map(([name, command]) => ({
      name,
      kind: 'mcp',
      command,
      paths: [folder],
      trust: true,
      ...(name === 'everything' ? { sampling: { model } } : {}),
    }));
    const research = { name: 'online', kind: 'mcp', url: `${online.proxy.url}/mcp`, trust: true, include: ['simulate-*'] };
    bridge = await startBridge([...sources, research], {
      // Texts are compared: they have no mark of untrusted content.
      safety: SafetySettings.parse({ provenance: { trusted: Object.keys(servers) } }),
    });
    client = await connectMcp('2026-07-28', { key: BOOTSTRAP_KEY, urls: [bridge.gateway.url] });
  });
  afterAll(async () => {
    for (const one of direct) await one.close();
    await client?.close();
    await bridge?.close();
    online?.proxy.close();
    online?.program.kill('SIGKILL');
    await models?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const startOnline = async (): Promise<typeof online> => {
    const port = await freePort();
    const [node, program] = servers.everything;
    const server = spawn(node, [program, 'streamableHttp'], { env: { PORT: `${port}` }, stdio: 'ignore' });
    const sent: string[] = [];
    const forward = async (request: Request) => {
      const body = await request.text();
      sent.push(/"method":"(?<method>[^"]+)"/.exec(body)?.groups?.['method'] ?? '');
      const { method, headers, signal } = request;
      return fetch(`http://127.0.0.1:${port}/mcp`, { method, headers, signal, ...(body === '' ? {} : { body }) });
    };
    await eventually(
      () =>
        fetch(`http://127.0.0.1:${port}/mcp`).then(
          () => true,
          () => false,
        ),
      'the server to listen',
    );
    return { program: server, proxy: await serveWeb(forward), sent };
  };
  /** A call that waits for a person. */
  const asking = (id: string) =>
    eventually(async () => {
      const { body } = await bridge.gateway.agent.get(`/v1/calls/${id}`);
      if (body.status === 'ended') throw new Error(`the call ended: ${JSON.stringify(body)}`);
      return body.waiting?.input;
    }, `the question of the call ${id}`);
  const give = (id: string, value: unknown) => bridge.gateway.agent.request('POST', `/v1/calls/${id}/input`, { value });
  const textOf = ({ result }: Call) => (result?.content ?? []).map((item) => (item.type === 'text' ? item.text : '')).join('\n');

  /** The server as a client reaches it without Toolyard. */
  const directly = async (name: Name): Promise<Reached> => {
    const [command, ...args] = servers[name];
    const cwd = join(folder, 'direct', name);
    mkdirSync(cwd, { recursive: true });
    const one = new Client(
      { name: 'direct', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: {} } },
    );
    one.setRequestHandler('elicitation/create', () => ({ action: 'decline' as const }));
    await one.connect(new StdioClientTransport({ command, args, cwd, stderr: 'ignore' }));
    direct.push(one);
    return {
      call: (tool, given = {}, onprogress) => one.callTool({ name: tool, arguments: given }, { ...(onprogress && { onprogress }) }),
      names: async () => (await one.listTools()).tools.map((tool) => tool.name),
    };
  };
  const throughToolyard = (name: Name): Reached => {
    const names = async () => (await client.tools()).tools.map((tool) => tool.name);
    return {
      call: async (tool, given = {}, onprogress) => {
        const all = await names();
        const known = all.includes(`${name}__${tool}`) ? `${name}__${tool}` : tool;
        return client.call(known, given, { ...(onprogress && { onprogress }) });
      },
      names,
    };
  };
  const both = async (name: Name): Promise<[Reached, Reached]> => [await directly(name), throughToolyard(name)];
  /** Common part of both results: without facts about the call, times, and the folder of each. */
  const comparable = (result: object) => {
    const { content, structuredContent, isError = false } = result as { content: object[]; structuredContent?: unknown; isError?: boolean };
    const text = JSON.stringify({ content, structuredContent, isError }, (key, value: unknown) =>
      key === 'blob' ? Buffer.from(String(value), 'base64').toString() : value,
    );
    return JSON.parse(text.replaceAll(/\d+:\d\d:\d\d [AP]M/g, 'TIME').replaceAll(/\/[\w./~-]*\/(files|memory)\b/g, 'FOLDER')) as object;
  };
  const expectSame = async ([one, other]: [Reached, Reached], tool: string, args: Record<string, unknown> = {}) => {
    const expected = comparable(await one.call(tool, args));
    expect(comparable(await other.call(tool, args))).toEqual(expected);
    return expected;
  };

  it.each(Object.keys(servers) as Name[])('offers every tool of the MCP server %s', async (name) => {
    const [one, other] = await both(name);
    const all = await other.names();
    const missing = (await one.names()).filter((tool) => !all.includes(tool) && !all.includes(`${name}__${tool}`));
    expect(missing).toEqual([]);
  });

  it('returns results of every kind of content like the MCP server', async () => {
    const everything = await both('everything');
    await expectSame(everything, 'echo', { message: 'hé ✓' });
    await expectSame(everything, 'get-sum', { a: 1, b: 2 });
    await expectSame(everything, 'get-tiny-image');
    await expectSame(everything, 'get-annotated-message', { messageType: 'error', includeImage: true });
    await expectSame(everything, 'get-resource-links', { count: 3 });
    await expectSame(everything, 'get-resource-reference', { resourceType: 'Text', resourceId: 1 });
    await expectSame(everything, 'get-resource-reference', { resourceType: 'Blob', resourceId: 2 });
    await expectSame(everything, 'get-structured-content', { location: 'Chicago' });
  });

  it('passes each step of progress of an MCP server on', async () => {
    const [one, other] = await both('everything');
    const stepsOf = async ({ call }: Reached) => {
      const steps: Step[] = [];
      await call('trigger-long-running-operation', { duration: 1, steps: 4 }, ({ progress, total }) => steps.push({ progress, total }));
      return steps;
    };
    // The last step goes out at the same moment as the result: a client may get it or not.
    const expected = (await stepsOf(one)).slice(0, 3);
    expect(expected).toHaveLength(3);
    expect((await stepsOf(other)).slice(0, 3)).toEqual(expected);
  });

  it('returns errors of MCP tools as errors for the model', async () => {
    const [one, other] = await both('everything');
    for (const reached of [one, other]) expect(await reached.call('get-sum', { a: 'one' })).toMatchObject({ isError: true });
  });

  it('answers an MCP server’s question to a model by the operator’s model, within its limits', async () => {
    models.on('operators', [{ text: 'Forty-two.', usage: { input: 7, output: 3 } }]);
    const { agent } = bridge.gateway;
    const call = await agent.run('trigger-sampling-request', { prompt: 'What is the answer?', maxTokens: 20 });
    expect([call.outcome, textOf(call)]).toEqual(['completed', expect.stringContaining('Forty-two.')]);
    expect(models.calls('operators').map(({ body }) => body)).toEqual([
      expect.objectContaining({
        messages: [
          { role: 'system', content: 'You are a helpful test server.' },
          { role: 'user', content: expect.stringContaining('What is the answer?') },
        ],
        max_tokens: 20,
      }),
    ]);
    const turns = (await agent.events(call.id)).flatMap((event) => (event.type === 'call.turn' ? [event.data] : []));
    expect(turns).toMatchObject([{ turn: 1, model: 'operators', text: 'Forty-two.', usage: { inputTokens: 7, outputTokens: 3 } }]);
  });

  it('passes the form of an MCP server with each kind of field to a person, and the answer to the server', async () => {
    const { agent } = bridge.gateway;
    const { id } = await agent.accepted('trigger-elicitation-request', {});
    expect((await asking(id)).inputSchema).toMatchObject({
      required: ['name'],
      properties: { untitledMultipleSelectEnum: { maxItems: 3 } },
    });
    expect((await give(id, { name: 'Ada', untitledMultipleSelectEnum: ['Kazoo'] })).status).toBe(422);
    await give(id, { name: 'Ada', integer: 7, untitledMultipleSelectEnum: ['Piano', 'Bass'] });
    const text = textOf(await agent.ended(id));
    expect(text).toContain('- Name: Ada');
    expect(JSON.parse(text.slice(text.indexOf('Raw result: ') + 12))).toEqual({
      action: 'accept',
      content: { name: 'Ada', integer: 7, untitledMultipleSelectEnum: ['Piano', 'Bass'] },
    });
  });

  it.each(['everything__simulate-research-query', 'online__simulate-research-query'])(
    'follows the task of an MCP server to its end, with its stages and its question: %s',
    async (tool) => {
      const { agent } = bridge.gateway;
      const { id } = await agent.accepted(tool, { topic: 'python', ambiguous: true });
      expect((await asking(id)).prompt).toContain('could have multiple interpretations');
      await give(id, { interpretation: 'snake' });
      const call = await agent.ended(id);
      expect([call.outcome, textOf(call)]).toEqual(['completed', expect.stringContaining('# Research Report: python (snake)')]);
      const events = await agent.events(id);
      const stages = events.flatMap((event) => (event.type === 'call.progress' ? [event.data.message ?? ''] : []));
      expect(stages[0]).toBe('Gathering sources...');
      expect(stages.at(-1)).toMatch(/Synthesizing|Generating|Continuing/);
      expect(events.filter(({ type }) => type === 'call.end')).toHaveLength(1);
    },
  );

  it('cancels the task of an MCP server with its call', async () => {
    const { agent } = bridge.gateway;
    online.sent.splice(0);
    const { id } = await agent.accepted('online__simulate-research-query', { topic: 'tea' });
    const begun = async () => (await agent.events(id)).some(({ type }) => type === 'call.progress');
    await eventually(begun, 'the task to work');
    await agent.request('POST', `/v1/calls/${id}/cancel`, {});
    expect((await agent.ended(id)).outcome).toBe('cancelled');
    await eventually(() => online.sent.includes('tasks/cancel'), 'the server to be asked to cancel');
    expect(online.sent.filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('works with files as the MCP server does alone', async () => {
    const files = await both('files');
    await expectSame(files, 'write_file', { path: 'a.txt', content: 'one\ntwo\n' });
    await expectSame(files, 'create_directory', { path: 'sub' });
    await expectSame(files, 'edit_file', { path: 'a.txt', edits: [{ oldText: 'two', newText: 'three' }] });
    expect(JSON.stringify(await expectSame(files, 'read_text_file', { path: 'a.txt' }))).toContain('three');
    await expectSame(files, 'list_directory', { path: '.' });
    await expectSame(files, 'directory_tree', { path: '.' });
    await expectSame(files, 'search_files', { path: '.', pattern: '*.txt' });
    await expectSame(files, 'list_allowed_directories');
    expect(await expectSame(files, 'read_text_file', { path: '/etc/passwd' })).toMatchObject({ isError: true });
  });

  it('preserves the memory server’s data between calls', async () => {
    const memory = await both('memory');
    await expectSame(memory, 'create_entities', { entities: [{ name: 'Toolyard', entityType: 'program', observations: ['runs tools'] }] });
    await expectSame(memory, 'add_observations', { observations: [{ entityName: 'Toolyard', contents: ['is durable'] }] });
    expect(JSON.stringify(await expectSame(memory, 'read_graph'))).toContain('is durable');
    await expectSame(memory, 'search_nodes', { query: 'durable' });
  });

  it('serves the MCP inspector in its CLI mode', async () => {
    const inspect = async (...words: string[]) => {
      const program = join(modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
      const where = ['--cli', `${bridge.gateway.url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${BOOTSTRAP_KEY}`];
      const { stdout } = await promisify(execFile)(join(modules, NODE, 'bin/node'), [program, ...where, ...words], {
        env: { PATH: process.env['PATH'] ?? '', HOME: folder },
      });
      return JSON.parse(stdout) as { tools?: { name: string }[]; content?: object[] };
    };
    const { tools = [] } = await inspect('--method', 'tools/list');
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['call_result', 'get-sum', 'shell']));
    const called = await inspect('--method', 'tools/call', '--tool-name', 'get-sum', '--tool-arg', 'a=1', 'b=2');
    expect(called.content).toEqual([{ type: 'text', text: 'The sum of 1 and 2 is 3.' }]);
  });

  it('serves a client behind mcp-remote', async () => {
    const one = new Client({ name: 'behind-mcp-remote', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
    const args = [join(modules, 'mcp-remote/dist/proxy.js'), `${bridge.gateway.url}/mcp`, '--transport', 'http-only', '--allow-http'];
    await one.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...args, '--header', `Authorization:Bearer ${BOOTSTRAP_KEY}`],
        env: { PATH: process.env['PATH'] ?? '', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder },
        stderr: 'ignore',
      }),
    );
    direct.push(one);
    expect((await one.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['call_result', 'get-sum']));
    const steps: Step[] = [];
    const result = await one.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 3 } },
      { onprogress: (step) => steps.push(step) },
    );
    expect(result.content).toMatchObject([{ type: 'text', text: expect.stringContaining('completed') }]);
    expect(steps.map(({ progress }) => progress).slice(0, 2)).toEqual([1, 2]);
  });
});
