import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { SourceSettings, type Call, type Content, type Problem, type SourcePage } from '#contracts';
import { startWorker, type RunningWorker } from '../../apps/worker/src/main.js';
import { readWorkerConfig } from '../../apps/worker/src/platform/worker.config.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { connectMcp, REVISIONS } from '../support/mcp-clients.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { serveWeb, type WebServer } from '../support/serve-web.js';
import { modernTasks, olderTasks, type TaskServer } from '../support/task-servers.js';

const FIXTURE = resolve('test/support/asking-mcp-server.fixture.mjs');
const SECRET = 'ghp_0123456789abcdefABCDEF0123456789abcd';
const BRANCH = {
  type: 'object' as const,
  properties: { branch: { type: 'string' as const, enum: ['main', 'next'] } },
  required: ['branch'],
};

const SAMPLING = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: `Name a branch. It is not ${SECRET}` } }],
  systemPrompt: 'Be short',
  includeContext: 'allServers' as const,
  maxTokens: 20,
};

/** Two workers, an MCP server of each era: that of the older one waits on the connection of one worker. */
describe('questions of bridged MCP servers', () => {
  let redis: RedisServer;
  let gateway: TestGateway;
  const workers: RunningWorker[] = [];
  let http: WebServer;
  const tasks: Record<string, TaskServer> = {};
  const workspaceRoot = mkdtempSync(join(tmpdir(), 'toolyard-questions-'));

  beforeAll(async () => {
    redis = await startRedisServer();
    const handler = createMcpHandler(modernServer);
    http = await serveWeb((request) => handler.fetch(request));
    Object.assign(tasks, { tasks: await modernTasks(), older: await olderTasks({ sessions: true }) });
    const sources = [
      ...Object.entries(tasks).map(([name, { url }]) => ({ name, kind: 'mcp', url })),
      { name: 'modern', kind: 'mcp', url: `${http.url}/mcp` },
      { name: 'legacy', kind: 'mcp', command: [process.execPath, FIXTURE], paths: [FIXTURE] },
    ].map((source) => SourceSettings.parse(source));
    gateway = await startTestGateway('default', { redisUrl: redis.url, sources });
    const env = { PATH: process.env['PATH'], REDIS_URL: redis.url, WORKER_PORT: 'off', WORKSPACE_ROOT: workspaceRoot, LOG_LEVEL: 'silent' };
    workers.push(...(await Promise.all([1, 2].map(() => startWorker(readWorkerConfig(env))))));
    const listed = async () => (await gateway.agent.get<SourcePage>('/v1/sources')).body.sources;
    await eventually(async () => (await listed()).every(({ status }) => status === 'ok'), 'both servers to be read');
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await gateway?.close();
    http?.close();
    for (const server of Object.values(tasks)) server.close();
    await redis?.stop();
    rmSync(workspaceRoot, { recursive: true, force: true });
  });

  const asked = async (tool: string, args: object = {}): Promise<Call> => {
    const { body } = await gateway.agent.submit(tool, args);
    return eventually(async () => {
      const { body: call } = await gateway.agent.get(`/v1/calls/${body.id}`);
      if (call.status === 'ended') throw new Error(`the call ended: ${JSON.stringify(call)}`);
      return call.status === 'waiting_input' ? call : undefined;
    }, `the question of ${tool}`);
  };
  const give = (id: string, value: unknown) => gateway.agent.request('POST', `/v1/calls/${id}/input`, { value });
  const answerIn = ({ result }: Call): unknown => {
    const [first] = (result?.content ?? []) as readonly Content[];
    return JSON.parse(first?.type === 'text' ? first.text.replace(/^\[.*\]\n/, '') : 'null');
  };

  it.each(['modern', 'legacy'])(
    'suspends the call of an asking MCP server until a person answers, and passes the answer on: %s',
    async (source) => {
      for (const branch of ['main', 'next', 'main', 'next']) {
        const call = await asked(`${source}__ask`);
        expect(call.waiting?.input).toMatchObject({ prompt: `The MCP server ${source} asks: Which branch?`, inputSchema: BRANCH });
        expect((await give(call.id, { branch: 'other' })).status).toBe(422);
        expect((await give(call.id, { branch })).status).toBe(200);
        const ended = await gateway.agent.ended(call.id);
        expect([ended.outcome, answerIn(ended)]).toEqual(['completed', { action: 'accept', content: { branch } }]);
      }
    },
  );

  it.each(['modern', 'legacy'])(
    'reads a declined answer in the MCP server; questions of tools that need a value may not be declined: %s',
    async (source) => {
      const input = (id: string, body: object) => gateway.agent.request<Problem>('POST', `/v1/calls/${id}/input`, body);
      const call = await asked(`${source}__ask`);
      expect(call.waiting?.input?.declinable).toBe(true);
      expect((await input(call.id, {})).body.errors).toEqual([
        { pointer: '/value', message: 'expected exactly one of `value` and `decline`' },
      ]);
      expect((await input(call.id, { decline: true, value: { branch: 'main' } })).status).toBe(422);
      expect([(await input(call.id, { decline: true })).status, (await input(call.id, { decline: true })).status]).toEqual([200, 200]);
      expect((await input(call.id, { value: { branch: 'main' } })).status).toBe(409);
      const ended = await gateway.agent.ended(call.id);
      expect([ended.outcome, answerIn(ended)]).toEqual(['completed', { action: 'decline' }]);
      const { id } = await asked('ask_user', { question: 'Which?' });
      expect((await input(id, { decline: true })).body.errors).toEqual([
        { pointer: '/decline', message: expect.stringContaining('give one, or cancel the call') },
      ]);
      await gateway.agent.request('POST', `/v1/calls/${id}/cancel`, {});
    },
  );

  it.each(REVISIONS.flatMap((revision) => ['modern', 'legacy'].map((source) => [source, revision] as const)))(
    'asks the user of an MCP client, and gives the bridged server the answer: %s, asked by a client of %s',
    async (source, revision) => {
      const answers = [{ action: 'accept' as const, content: { branch: 'next' } }, { action: 'decline' as const }];
      const forms: unknown[] = [];
      const user = (_message: string, form: unknown) => answers[forms.push(form) - 1] ?? { action: 'cancel' as const };
      const client = await connectMcp(revision, { key: BOOTSTRAP_KEY, urls: [gateway.url], user });
      for (const answer of answers) {
        const result = await client.call(`${source}__ask`, {});
        expect(JSON.parse((result.content[0]?.text ?? '').replace(/^\[.*\]\n/, ''))).toEqual(answer);
      }
      expect(forms).toEqual([expect.objectContaining(BRANCH), expect.objectContaining(BRANCH)]);
      await client.close();
    },
  );

  it.each(['tasks', 'older'])('asks a person for a task of an MCP server, too, and begins one task: %s', async (source) => {
    const call = await asked(`${source}__ask`);
    await give(call.id, { branch: 'next' });
    const ended = await gateway.agent.ended(call.id);
    expect([ended.outcome, answerIn(ended)]).toEqual(['completed', { action: 'accept', content: { branch: 'next' } }]);
    expect(tasks[source]?.begun()).toBe(1);
  });

  it.each(['modern', 'legacy'])('shows an address of an MCP server to the person and never opens it: %s', async (source) => {
    const call = await asked(`${source}__address`);
    expect(call.waiting?.input?.prompt).toContain('asks to open https://login.example.com/ (Log in there)');
    await give(call.id, true);
    expect(answerIn(await gateway.agent.ended(call.id))).toMatchObject({ action: 'accept' });
  });

  it.each(['modern', 'legacy'])('declines questions of an MCP server for secrets: %s', async (source) => {
    const call = await gateway.agent.run(`${source}__password`, {});
    expect([call.outcome, answerIn(call)]).toEqual(['completed', { action: 'decline' }]);
  });

  it.each(REVISIONS.flatMap((revision) => ['modern', 'legacy'].map((source) => [source, revision] as const)))(
    'asks the model of an MCP client that offers one, and is refused by a client without one: %s, asked by a client of %s',
    async (source, revision) => {
      const asked: unknown[] = [];
      const answer = { role: 'assistant' as const, content: { type: 'text' as const, text: 'main' }, model: 'm-1', stopReason: 'endTurn' };
      const model = (params: unknown) => {
        asked.push(params);
        return answer;
      };
      const client = await connectMcp(revision, { key: BOOTSTRAP_KEY, urls: [gateway.url], model });
      const result = await client.call(`${source}__sample`, {});
      const text = (result.content[0]?.text ?? '').replace(/^\[.*\]\n/, '');
      expect([result.isError ?? false, JSON.parse(text)]).toEqual([false, answer]);
      // The newer client's library shows its model no `_meta`: the question belongs to the tool that was called.
      const named = revision === '2025-11-25' ? { _meta: { 'io.toolyard/source': source } } : {};
      const content = { type: 'text', text: 'Name a branch. It is not [REDACTED]' };
      expect(asked).toEqual([{ messages: [{ role: 'user', content }], systemPrompt: 'Be short', maxTokens: 20, ...named }]);
      for (const tool of ['context', 'tooled']) {
        const refused = await client.call(`${source}__${tool}`, {});
        expect(refused.content[0]?.text).toMatch(tool === 'context' ? /expected at most 16384/ : /no tools for the model|do not declare/);
      }
      expect(asked).toHaveLength(1);
      await client.close();
      const plain = await connectMcp(revision, { key: BOOTSTRAP_KEY, urls: [gateway.url], user: () => ({ action: 'accept' }) });
      const refused = plain.call(`${source}__sample`, {});
      const isNeeded = revision === '2026-07-28' && source === 'modern';
      if (isNeeded) await expect(refused).rejects.toMatchObject({ code: -32_021, data: { requiredCapabilities: { sampling: {} } } });
      else expect((await refused).content[0]?.text).toMatch(/not offered|do not declare/);
      await plain.close();
    },
  );

  it('answers -32021 with the status 400 to a request without `sampling` that needs a model; forms need no capability', async () => {
    const call = async (name: string, capabilities: object) => {
      const version = '2026-07-28';
      const meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': capabilities };
      const response = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${BOOTSTRAP_KEY}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': version,
          'mcp-method': 'tools/call',
          'mcp-name': name,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta: meta } }),
      });
      return { status: response.status, body: (await response.json()) as { result?: { _meta: Record<string, string> }; error?: object } };
    };
    expect(await call('modern__sample', { elicitation: {} })).toEqual({
      status: 400,
      body: { jsonrpc: '2.0', id: 1, error: expect.objectContaining({ code: -32_021, data: { requiredCapabilities: { sampling: {} } } }) },
    });
    const asked = await call('modern__ask', {});
    expect([asked.status, asked.body.result]).toEqual([200, expect.objectContaining({ resultType: 'complete' })]);
    const id = asked.body.result?._meta['io.toolyard/callId'] ?? '';
    expect((await give(id, { branch: 'next' })).status).toBe(200);
    expect(answerIn(await gateway.agent.ended(id))).toEqual({ action: 'accept', content: { branch: 'next' } });
  });

  it('answers an older MCP server with an error when the client declines to ask its model', async () => {
    const model = () => {
      throw new Error('the user said no');
    };
    const client = await connectMcp('2025-11-25', { key: BOOTSTRAP_KEY, urls: [gateway.url], model });
    expect((await client.call('legacy__sample', {})).content[0]?.text).toContain('"code":-1');
    const failed = await client.call('modern__sample', {});
    expect([failed.isError, failed.content[0]?.text]).toEqual([true, expect.stringContaining('the MCP client declined')]);
    await client.close();
  });

  it('refuses a question of an MCP server for a model with a reason if there is no client', async () => {
    expect(await gateway.agent.run('modern__sample', {})).toMatchObject({
      outcome: 'failed',
      error: { code: 'tool_failed', message: expect.stringContaining('sampling/createMessage'), missingCapability: 'sampling' },
    });
    expect(answerIn(await gateway.agent.run('legacy__sample', {}))).toMatchObject({ code: -32_601 });
  });

  it('fails a call whose MCP server asks more than twenty times', async () => {
    const call = await gateway.agent.run('endless', {});
    expect(call).toMatchObject({ outcome: 'failed', error: { code: 'tool_failed', message: expect.stringContaining('asked 20 times') } });
  });

  it('declines the question of an older MCP server while another call is under way: it could be about that one', async () => {
    const first = await asked('legacy__ask');
    // Submits further calls: the worker without another call in progress asks the question.
    const others = await Promise.all([1, 2, 3].map(() => gateway.agent.submit('legacy__ask', {})));
    const declined = await eventually(async () => {
      const calls = await Promise.all(others.map(async ({ body }) => (await gateway.agent.get(`/v1/calls/${body.id}`)).body));
      return calls.find(({ status }) => status === 'ended');
    }, 'a declined question');
    expect(answerIn(declined)).toEqual({ action: 'decline' });
    await give(first.id, { branch: 'main' });
    expect(answerIn(await gateway.agent.ended(first.id))).toMatchObject({ action: 'accept' });
    await Promise.all(others.map(({ body }) => gateway.agent.request('POST', `/v1/calls/${body.id}/cancel`, {})));
  });

  it('ignores questions of an MCP server after the call, and answers to no request', async () => {
    const call = await gateway.agent.run('late', {});
    expect([call.outcome, answerIn(call)]).toEqual(['completed', 'first']);
  });
});

function modernServer(): McpServer {
  const server = new McpServer({ name: 'asking', version: '1.0.0' });
  const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });
  const asking = (name: string, request: Parameters<typeof inputRequired>[0]['inputRequests'], isEndless = false) =>
    server.registerTool(name, { inputSchema: z.object({}) }, (_args, { mcpReq }) => {
      const answer = mcpReq.inputResponses?.['one'];
      return answer === undefined || isEndless ? inputRequired({ inputRequests: request ?? {}, requestState: 'state' }) : text(answer);
    });
  asking('ask', { one: inputRequired.elicit({ message: 'Which branch?', requestedSchema: BRANCH }) });
  const password = { type: 'object' as const, properties: { password: { type: 'string' as const } } };
  asking('password', { one: inputRequired.elicit({ message: 'Log in', requestedSchema: password }) });
  asking('endless', { one: inputRequired.elicit({ message: 'Log in', requestedSchema: password }) }, true);
  asking('address', { one: inputRequired.elicitUrl({ message: 'Log in there', url: 'https://login.example.com/' }) });
  asking('sample', { one: inputRequired.createMessage(SAMPLING) });
  asking('context', { one: inputRequired.createMessage({ ...SAMPLING, systemPrompt: 'x'.repeat(20_000) }) });
  asking('tooled', { one: inputRequired.createMessage({ ...SAMPLING, tools: [{ name: 'rm', inputSchema: { type: 'object' } }] }) });
  return server;
}
