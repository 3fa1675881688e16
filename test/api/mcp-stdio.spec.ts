import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport, type StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import type { CallPage } from '#contracts';
import { startCli, type CliProcess } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { connectMcp, REVISIONS, type TestClient } from '../support/mcp-clients.js';

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

let tenant: Tenant;
/** Between the command line tool and the gateway. */
let network: FaultyProxy;
beforeAll(async () => {
  tenant = await useTenant('mcp-stdio', {
    held: true,
    settings: {
      posture: { autonomy: 'full', permissionMode: 'workspace-write' },
      // Calls of it require approval, like commands.
      policy: { toolsSettings: { held_write: { tier: 'privileged' } } },
    },
  });
  network = await FaultyProxy.start(tenant.url);
});
afterAll(async () => {
  await network?.close();
  await tenant?.close();
});

/** The queued call of this session. Lists are late: they may name one that has ended. */
const callIn = (sessionId: string) =>
  eventually(async () => {
    const { body } = await tenant.agent.get<CallPage>(`/v1/calls?sessionId=${sessionId}&status=queued`);
    for (const call of body.calls) if ((await tenant.agent.get(`/v1/calls/${call.id}`)).body.status === 'queued') return call;
    return undefined;
  }, `a call in the session ${sessionId}`);

describe.each(REVISIONS)('toolyard mcp for a client of the SDK that speaks revision %s', (revision) => {
  const session = `stdio-${revision}`;
  let client: TestClient;
  beforeAll(async () => {
    const user = () => ({ action: 'accept' as const, content: { approve: true } });
    client = await connectMcp(revision, { key: tenant.keyOf('main'), urls: [network.url], stdio: ['--session', session], user });
  });
  afterAll(() => client?.close());

  it('gives a client of toolyard mcp the tools of the key and their instructions', async () => {
    expect((await client.tools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['call_result', 'echo', 'shell']));
    expect(client.instructions).toContain('call_result');
  });

  it('runs calls of toolyard mcp in the session of --session, with progress', async () => {
    const steps: (string | undefined)[] = [];
    const answering = client.call('held', {}, { onprogress: ({ message }) => steps.push(message) });
    const attempt = await tenant.held.claim((await callIn(session)).id);
    attempt.update('half\n');
    await eventually(() => steps.includes('half\n'), 'the update as progress');
    await attempt.end('all');
    expect((await answering).content[0]?.text).toBe('all');
  });

  it('accepts another session in _meta of a call', async () => {
    const answering = client.call('held', {}, { meta: { 'io.toolyard/sessionId': `${session}-own` } });
    await tenant.held.run((await callIn(`${session}-own`)).id, 'own');
    expect((await answering).content[0]?.text).toBe('own');
  });

  it('asks the user of toolyard mcp for approval', async () => {
    const answering = client.call('held_write', { command: 'make deploy' });
    await tenant.held.run((await callIn(session)).id, 'deployed');
    expect((await answering).content[0]?.text).toBe('deployed');
  });

  it('cancels the call when the client of toolyard mcp cancels the request', async () => {
    const gone = new AbortController();
    const answering = client.call('held', {}, { signal: gone.signal });
    const { id } = await callIn(session);
    gone.abort('not needed');
    await expect(answering).rejects.toThrow(/not needed/);
    expect((await tenant.agent.ended(id)).outcome).toBe('cancelled');
  });

  it('answers toolyard mcp with an error while the gateway is away, and works again when it is back', async () => {
    network.away();
    const failed = client.call('call_result', { callId: 5 });
    await expect(failed).rejects.toMatchObject({
      code: -32_000,
      message: expect.stringMatching(/No answer from the gateway at http.*\(ECONNREFUSED\).*Start it/),
    });
    await network.back();
    expect(await client.call('call_result', { callId: 5 })).toMatchObject({ isError: true });
  });

  it('answers with an error when the connection breaks before the answer and the gateway cannot resume it', async () => {
    const { id, answer } = await cutCall((lastEventId) => 'x'.repeat(lastEventId.length));
    expect(await answer).toMatchObject({ code: -32_000, message: expect.stringContaining('broke before the answer came') });
    await tenant.agent.request('POST', `/v1/calls/${id}/cancel`, {});
    expect(await client.call('call_result', { callId: 5 })).toMatchObject({ isError: true });
  });

  const resumes = revision === '2025-11-25' ? it : undefined;
  resumes?.('goes on with the response when the connection breaks before the answer', async () => {
    let resumed = false;
    const { id, answer } = await cutCall((lastEventId) => {
      resumed = true;
      return lastEventId;
    });
    await eventually(() => resumed, 'the response to be resumed');
    await tenant.held.run(id, 'late');
    expect(await answer).toMatchObject({ content: [{ text: 'late' }] });
  });

  /** A call whose connection is cut; `change` gets and gives the id of the event after which the client goes on. */
  async function cutCall(change: (lastEventId: string) => string): Promise<{ id: string; answer: Promise<unknown> }> {
    const answering = client.call('held', {}, { meta: { 'io.toolyard/sessionId': `${session}-cut` }, onprogress: () => {} });
    const answer = answering.catch((error: unknown) => error);
    const { id } = await callIn(`${session}-cut`);
    network.toServer = (piece) => {
      const text = piece.toString('latin1');
      return Buffer.from(
        text.replace(/(?<=last-event-id: )\S+/i, (lastEventId) => change(lastEventId)),
        'latin1',
      );
    };
    network.cut();
    return { id, answer };
  }
});

describe('toolyard mcp', () => {
  const start = (words: string[] = [], key = tenant.keyOf('main')) => {
    const cli = startCli(['mcp', ...words], { url: network.url, env: { TOOLYARD_API_KEY: key }, keepsInput: true });
    const send = (message: object) => void cli.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return { cli, send };
  };
  const answers = ({ out }: CliProcess) =>
    out()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const answerTo = (cli: CliProcess, id: unknown) =>
    eventually(() => answers(cli).find((message) => message['id'] === id), `the answer to ${String(id)}`) as Promise<{
      result?: Record<string, unknown>;
      error?: { code: number; message: string; data?: unknown };
    }>;

  it('prints only messages to the stdout of toolyard mcp, skips invalid ones, and ends with its input', async () => {
    const { cli, send } = start();
    cli.child.stdin?.write('hello\n{"jsonrpc":"1.0"}\n\n');
    send({ id: 'a', method: 'tools/list', params: { _meta: META } });
    expect((await answerTo(cli, 'a')).result?.['tools']).toEqual(expect.any(Array));
    send({ id: 'b', method: 'tools/sell', params: { _meta: META } });
    expect((await answerTo(cli, 'b')).error?.code).toBe(-32_601);
    expect(answers(cli)).toHaveLength(2);
    expect(cli.err()).toContain('not a message of MCP');
    cli.child.stdin?.end();
    expect((await cli.ended()).code).toBe(0);
  });

  it('answers the requests before the end of input in toolyard mcp, in the session of that input', async () => {
    const messages = [
      { id: 1, method: 'initialize', params: INITIALIZE },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'echo', arguments: { text: 'last words' } } },
    ];
    const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
    const cli = startCli(['mcp'], { url: network.url, env: { TOOLYARD_API_KEY: tenant.keyOf('main') }, input });
    expect((await cli.ended()).code).toBe(0);
    expect(answers(cli).map(({ id, error }) => [id, error])).toEqual(expect.arrayContaining([1, 2, 3].map((id) => [id, undefined])));
    expect(JSON.stringify(answers(cli).find(({ id }) => id === 3))).toContain('last words');
  });

  it('passes numbers on in toolyard mcp with all their digits', async () => {
    const { cli } = start();
    const meta = JSON.stringify({ ...META, 'io.toolyard/sessionId': 'stdio-digits' });
    const params = `{"name":"held","arguments":{"id":725653563933458433},"_meta":${meta}}`;
    cli.child.stdin?.write(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":${params}}\n`);
    const { id } = await callIn('stdio-digits');
    expect((await tenant.agent.get(`/v1/calls/${id}`)).body.arguments).toEqual({ id: '725653563933458433' });
    await tenant.held.run(id, 'done');
    await answerTo(cli, 'a');
    cli.child.stdin?.end();
    expect((await cli.ended()).code).toBe(0);
  });

  it('explains in toolyard mcp why the gateway refuses the key, and exits cleanly at Ctrl-C', async () => {
    const { cli, send } = start([], 'not-a-key-of-anyone');
    send({ id: 1, method: 'initialize', params: INITIALIZE });
    expect((await answerTo(cli, 1)).error).toMatchObject({ code: -32_000, data: { status: 401, code: 'unauthenticated' } });
    cli.child.kill('SIGINT');
    expect((await cli.ended()).code).toBe(0);
  });

  it('opens a new session of toolyard mcp transparently when the gateway lost its own, and deletes it at the end', async () => {
    const opened = new Set<string>();
    network.toClient = (piece) => {
      for (const [, id = ''] of piece.toString('latin1').matchAll(/^mcp-session-id: (\S+)/gim)) opened.add(id);
      return piece;
    };
    const request = (method: string, id: string, body?: object) =>
      tenant.agent.request(method, '/mcp', body, { accept: 'application/json, text/event-stream', 'mcp-session-id': id });
    const statusOf = async (id: string) => (await request('POST', id, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).status;
    const { cli, send } = start();
    send({ id: 0, method: 'initialize', params: INITIALIZE });
    expect((await answerTo(cli, 0)).result?.['protocolVersion']).toBe('2025-11-25');
    send({ method: 'notifications/initialized' });
    const [first = ''] = opened;
    expect((await request('DELETE', first)).status).toBe(200);
    opened.clear();
    send({ id: 1, method: 'tools/list' });
    send({ id: 2, method: 'ping' });
    expect((await answerTo(cli, 1)).result?.['tools']).toEqual(expect.any(Array));
    expect((await answerTo(cli, 2)).result).toEqual({});
    expect(answers(cli)).toHaveLength(3);
    const [second = '', ...more] = opened;
    expect([second === first, await statusOf(second), more]).toEqual([false, 200, []]);
    cli.child.stdin?.end();
    expect((await cli.ended()).code).toBe(0);
    expect(await statusOf(second)).toBe(404);
  });

  it('requires a key for toolyard mcp, as for every command', async () => {
    const { code, out, err } = await start([], '').cli.ended();
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('No API key');
  });
});

describe('toolyard mcp --print-config', () => {
  const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
    'claude-code': JSON.parse,
    'claude-desktop': JSON.parse,
    cline: JSON.parse,
    codex: parseToml,
    continue: parseYaml,
    cursor: JSON.parse,
    gemini: JSON.parse,
    goose: parseYaml,
    opencode: JSON.parse,
    vscode: JSON.parse,
    windsurf: JSON.parse,
    zed: JSON.parse,
  };
  const names = Object.keys(PARSERS);
  let data: string;
  beforeAll(() => {
    data = mkdtempSync(join(tmpdir(), 'toolyard data '));
    writeFileSync(join(data, 'address'), tenant.url);
    writeFileSync(join(data, 'key'), `${tenant.keyOf('main')}\n`);
  });
  afterAll(() => rmSync(data, { recursive: true }));

  const print = (words: string[], env: Record<string, string>) =>
    startCli(['mcp', ...words], { url: 'http://127.0.0.1:1', env: { TOOLYARD_URL: '', TOOLYARD_API_KEY: '', ...env } }).ended();

  /** The program in the block, as the client reads it. */
  function serverIn(value: unknown): StdioServerParameters {
    const found: Record<string, unknown> = serverObject(value) ?? {};
    const { command, cmd = command, args = [], env, envs = env, environment = envs } = found;
    const [program = '', ...words] = [cmd, args].flat() as string[];
    return { command: program, args: words, env: environment as Record<string, string> };
  }
  const serverObject = (value: unknown): Record<string, unknown> | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    if ('command' in value || 'cmd' in value) return { ...value };
    return Object.values(value)
      .map(serverObject)
      .find((it) => it !== undefined);
  };

  it.each(Object.entries(PARSERS))(
    'prints a configuration for %s whose program works in any folder, without a key',
    async (name, parse) => {
      const { code, out, err } = await print(['--session', 'printed', '--print-config', name], { TOOLYARD_DATA: data });
      expect([code, out.includes(tenant.keyOf('main')), out.includes('API_KEY')]).toEqual([0, false, false]);
      expect(err).toMatch(/^For .+: .+/);
      const server = serverIn(parse(out));
      expect(server).toEqual({
        command: process.execPath,
        args: [resolve('apps/cli/toolyard.mjs'), 'mcp', '--session', 'printed'],
        env: { TOOLYARD_DATA: data },
      });
      const client = new Client({ name, version: '1' });
      await client.connect(new StdioClientTransport({ ...server, cwd: tmpdir() }));
      expect((await client.listTools()).tools.length).toBeGreaterThan(0);
      await client.close();
    },
  );

  it.each(Object.entries(PARSERS))('names the variable of the key for %s, never the key, without a data folder', async (name, parse) => {
    const { out, err } = await print(['--print-config', name], { TOOLYARD_URL: tenant.url, TOOLYARD_API_KEY: tenant.keyOf('main') });
    expect(`${out}${err}`).not.toContain(tenant.keyOf('main'));
    expect(JSON.stringify(parse(out))).toContain('TOOLYARD_API_KEY');
    expect(err).toContain('API key');
    expect(serverIn(parse(out)).env).toMatchObject({ TOOLYARD_URL: tenant.url });
  });

  it('lists the clients with the places of their files, without and with a wrong name', async () => {
    const listed = await print(['--print-config'], {});
    expect(
      listed.out
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(names);
    const wrong = await print(['--print-config', 'emacs'], { TOOLYARD_DATA: data });
    expect([wrong.code, wrong.out]).toEqual([2, '']);
    expect(wrong.err).toContain(`Expected one of ${names.join(', ')}, got "emacs"`);
  });
});
