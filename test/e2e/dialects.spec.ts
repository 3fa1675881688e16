import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NO_GRANTS, type Batch, type Call, type ToolDescriptor } from '#contracts';
import { Agent } from '../support/agent.js';
import { connectMcp, REVISIONS } from '../support/mcp-clients.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const ZEROCLAW_KEY = 'key-of-an-agent-that-speaks-zeroclaw';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('a dialect', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-dialects-'));
  let site: Server;
  let toolyard: TestCluster;
  let agent: Agent;
  let zeroclawKey: Agent;
  let origin: string;

  beforeAll(async () => {
    site = createServer((request, response) => {
      if (request.url === '/image') response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
      else if (request.url === '/gone') response.writeHead(404, { 'content-type': 'text/plain' }).end('it is gone');
      else if (request.method === 'POST') request.pipe(response.writeHead(200, { 'content-type': 'text/plain' }));
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>X</title><h1>Head</h1><p>text</p>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const { port } = site.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
    const config = join(folder, 'toolyard.json');
    const egress = { privateHosts: [`127.0.0.1:${port}`] };
    writeFileSync(
      config,
      JSON.stringify({
        policy: { egress },
        agents: { strict: { policy: { profile: 'zeroclaw', egress } }, reader: { posture: { autonomy: 'read_only' } } },
        keys: [{ id: 'zeroclaw', key: ZEROCLAW_KEY, tenant: 'default', dialect: 'zeroclaw', agents: ['*'] }],
      }),
    );
    toolyard = await startTestCluster({ env: { TOOLYARD_CONFIG: config, EGRESS_ALLOW_HOSTS: `127.0.0.1:${port}` } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    zeroclawKey = new Agent(agent.url, ZEROCLAW_KEY);
  });
  afterAll(async () => {
    await toolyard.close();
    site.close();
    rmSync(folder, { recursive: true });
  });

  const speaking =
    (dialect: string) =>
    (tool: string, args: unknown, more: Record<string, unknown> = {}): Promise<Call> =>
      agent.run(tool, args, { sessionId: `in-${dialect}`, dialect, ...more });

  describe('is chosen', () => {
    it('by the call before the session, by the session before the key', async () => {
      expect(textOf(await zeroclawKey.run('file_write', { path: 'é', content: 'é' }, { sessionId: 'of-key' }))).toBe('Wrote 2 bytes to é');
      expect((await zeroclawKey.run('nope', {})).result?.content).toEqual([{ type: 'text', text: 'Unknown tool: nope' }]);
      expect(textOf(await zeroclawKey.run('nope', {}, { dialect: 'core' }))).toBe('Tool not found: nope');
      const { body: session } = await agent.request<{ dialect?: string }>('PUT', '/v1/sessions/plain', { dialect: 'core' });
      expect(session.dialect).toBe('core');
      expect(textOf(await zeroclawKey.run('nope', {}, { sessionId: 'plain' }))).toBe('Tool not found: nope');
      await agent.request('PUT', '/v1/sessions/plain', { dialect: null });
      expect(textOf(await zeroclawKey.run('nope', {}, { sessionId: 'plain' }))).toBe('Unknown tool: nope');
    });

    it('by a name that exists, or the request is refused with the names', async () => {
      for (const answer of [
        await agent.submit('shell', { command: 'ls' }, { dialect: 'klingon' }),
        await agent.get('/v1/tools?dialect=klingon'),
        await agent.request('PUT', '/v1/sessions/x', { dialect: 'klingon' }),
      ]) {
        expect(answer.status).toBe(422);
        expect(JSON.stringify(answer.body)).toContain('zeroclaw');
      }
    });
  });

  it('keeps the canonical tool and arguments in the log, the name as it was called, and is judged by the canonical ones', async () => {
    const call = await speaking('zeroclaw')('shell', ' echo hi ');
    expect(call).toMatchObject({ tool: 'shell', dialect: 'zeroclaw', arguments: { command: 'echo hi', timeout_ms: 60_000 } });
    const [submitted] = await agent.events(call.id);
    expect(submitted?.data).toMatchObject({ tool: 'shell', dialect: 'zeroclaw' });
    const sessionId = 'judged';
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { grants: { ...NO_GRANTS, deniedTools: ['shell'] }, dialect: 'zeroclaw' });
    expect((await agent.run('shell', { cmd: 'ls' }, { sessionId })).outcome).toBe('denied');
  });

  it('is kept by a replay, whatever the session speaks by then', async () => {
    const call = await speaking('zeroclaw')('shell', 'echo hi; exit 3');
    const { body } = await agent.request('POST', `/v1/calls/${call.id}/replay`, {}, { prefer: 'wait=30' });
    expect(body).toMatchObject({ dialect: 'zeroclaw', arguments: call.arguments, result: { isError: true } });
    expect(textOf(body)).toBe('Exit code: 3\nhi\n');
  });

  it('holds for the calls of a batch and their strategy', async () => {
    const calls = [
      { tool: 'shell', arguments: 'echo a' },
      { tool: 'file_raed', arguments: { path: 'a' } },
    ];
    const { body } = await zeroclawKey.request<Batch>('POST', '/v1/batches', { calls }, { prefer: 'wait=30' });
    expect(body.strategy).toEqual({ type: 'sequential' });
    expect(body.results.map(({ result }) => result?.content[0])).toEqual([
      { type: 'text', text: 'a\n' },
      { type: 'text', text: 'Unknown tool: file_raed\nDid you mean: file_read?' },
    ]);
  });

  it.each(REVISIONS)('is that of an MCP client with such a key: its catalog and its calls (%s)', async (revision) => {
    const client = await connectMcp(revision, { key: ZEROCLAW_KEY, urls: [agent.url] });
    try {
      const { tools } = await client.tools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['call_result', 'file_read', 'shell']));
      expect(tools.some(({ name }) => name === 'file_edit')).toBe(false);
      const { content, isError } = await client.call('shell', { cmd: 'exit 3' });
      expect([content, isError]).toEqual([[{ type: 'text', text: 'Exit code: 3' }], true]);
    } finally {
      await client.close();
    }
  });

  describe('zeroclaw', () => {
    const run = speaking('zeroclaw');

    it('has a catalog of its own names, schemas and descriptions [RP-02]', async () => {
      const { body } = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools?dialect=zeroclaw');
      const shell = body.tools.find(({ name }) => name === 'shell');
      expect(shell).toMatchObject({ canonicalName: 'shell', aliases: [], input: { required: ['command'] } });
      expect(Object.keys(shell?.input['properties'] ?? {})).toEqual(['command', 'approved']);
      expect(body.tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['file_read', 'file_write', 'http_request', 'shell', 'web_fetch']),
      );
      expect(body.tools.some(({ name }) => name === 'file_edit')).toBe(false);
    });

    it('answers a command by success, output and error [CC-30, TB-01, TB-02]', async () => {
      const silent = await run('shell', { cmd: 'exit 3' });
      expect([silent.result?.structuredContent, textOf(silent), silent.result?.isError]).toEqual([
        { success: false, output: '', error: 'Exit code: 3' },
        'Exit code: 3',
        true,
      ]);
      const both = await run('shell', { command: 'echo a; echo b >&2' });
      expect(both.result?.structuredContent).toEqual({ success: true, output: 'stdout:\na\n\n\nstderr:\nb\n' });
    });

    it('names a parameter that is missing [VA-10, TB-02, TB-20, TB-30]', async () => {
      for (const [tool, missing] of [
        ['shell', 'command'],
        ['file_read', 'path'],
        ['file_write', 'path'],
      ] as const) {
        const call = await run(tool, {});
        expect([call.error?.code, textOf(call)]).toEqual(['invalid_arguments', `Missing '${missing}' parameter`]);
      }
      expect(textOf(await run('file_write', { path: 'x' }))).toBe("Missing 'content' parameter");
    });

    it('words what the policy refuses [TB-20, TB-30, PP-10]', async () => {
      expect(textOf(await run('file_read', { path: '../x' }))).toBe('Path not allowed by security policy: ../x');
      expect(textOf(await run('file_write', { path: '../x', content: '' }))).toBe('Path not allowed: ../x');
      const denied = await run('shell', { command: 'nmap host' }, { agentId: 'strict' });
      expect(textOf(denied)).toMatch(/^Security policy violation: Command not in allowlist/);
      expect(textOf(await run('file_write', { path: '../x', content: '' }, { agentId: 'reader' }))).toBe(
        'Read-only mode: cannot write files',
      );
    });

    it('requests and fetches [TB-56, TB-57]', async () => {
      const posted = await run('http_request', { url: `${origin}/`, method: 'POST', body: 'ping' });
      expect(textOf(posted)).toMatch(/Status: 200 OK\nResponse Headers: .*\n\nResponse Body:\nping/);
      const gone = await run('http_request', { url: `${origin}/gone` });
      expect(gone.result?.structuredContent).toMatchObject({ success: false, error: 'HTTP 404' });
      expect(textOf(await run('http_request', { url: 'ftp://x' }))).toBe('Only http:// and https:// URLs are allowed');
      expect(textOf(await run('http_request', { url: ' ' }))).toBe('URL cannot be empty');
      expect(textOf(await run('http_request', { url: 'http://127.0.0.1:1/' }))).toMatch(/^Blocked local\/private host: 127\.0\.0\.1/);
      expect(textOf(await run('web_fetch', { url: `${origin}/` }))).toContain('Head');
      expect(textOf(await run('web_fetch', { url: `${origin}/image` }))).toContain('Unsupported content type: image/png');
      expect(textOf(await run('web_fetch', { url: `${origin}/gone` }))).toMatch(/HTTP 404/);
    });
  });
});
