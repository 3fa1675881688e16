import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SourcePage, ToolDescriptor } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** A server over stdio whose tool `dial` connects to a port of this machine. */
const DIALLING_SERVER = `
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
const said = (id, text) => answer(id, { content: [{ type: 'text', text }] });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === 'initialize')
    answer(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'dialling', version: '1' } });
  else if (method === 'tools/list')
    answer(id, { tools: [{ name: 'dial', description: 'Connects.', inputSchema: { type: 'object' } }] });
  else if (method === 'tools/call')
    connect(params.arguments.port, '127.0.0.1').on('connect', () => said(id, 'connected')).on('error', () => said(id, 'cut off'));
  else console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }));
}
`;

/** Limits by the definition of a source within those of the installation. The network of commands is that of the worker here. */
describe('limits of a source', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-source-limits-'));
  const servers: Server[] = [];

  const serve = async (body: () => unknown): Promise<number> => {
    const server = createServer(
      (_request, response) => void response.setHeader('content-type', 'application/json').end(JSON.stringify(body())),
    );
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };

  let port = 0;
  beforeAll(async () => {
    const apiPort = await serve(() => ({ from: 'allowed' }));
    const otherPort = await serve(() => ({ from: 'unnamed' }));
    port = apiPort;
    const operation = (operationId: string, more = {}) => ({ get: { operationId, responses: { 200: { description: 'Fine.' } }, ...more } });
    const documentPort = await serve(() => ({
      openapi: '3.0.0',
      info: { title: 'Shop', version: '1' },
      servers: [{ url: `http://127.0.0.1:${apiPort}` }],
      paths: {
        '/one': operation('api.get.one'),
        '/other': operation('api.get.other', { servers: [{ url: `http://127.0.0.1:${otherPort}` }] }),
      },
    }));
    for (const name of ['free', 'closed']) {
      mkdirSync(join(folder, name, 'dial'), { recursive: true });
      const run = ['/bin/bash', '-c', `exec 3<>/dev/tcp/127.0.0.1/${apiPort} && echo connected || echo cut off`];
      const tool = { name: `dial_${name}`, description: 'Connects.', input: { type: 'object' }, run };
      writeFileSync(join(folder, name, 'dial', 'tool.yaml'), JSON.stringify(tool));
    }
    writeFileSync(join(folder, 'outside'), 'of the machine');
    const look = `exec 2>&1; cat ${join(folder, 'outside')}; env; touch "$(dirname "$0")/mark"; echo mine > mine && cat mine`;
    mkdirSync(join(folder, 'closed', 'look'));
    writeFileSync(join(folder, 'closed', 'look', 'look.sh'), look);
    const looking = { name: 'look', description: 'Looks.', input: { type: 'object' }, run: ['bash', 'look.sh'] };
    writeFileSync(join(folder, 'closed', 'look', 'tool.yaml'), JSON.stringify(looking));
    const program = join(folder, 'dialling.mjs');
    writeFileSync(program, DIALLING_SERVER);
    const api = { kind: 'openapi', document: `http://127.0.0.1:${documentPort}`, trust: true };
    const server = { kind: 'mcp', command: [process.execPath, program], paths: [program], trust: true };
    const sources = [
      { ...api, name: 'open' },
      { ...api, name: 'narrow', egress: [] },
      { ...api, name: 'wide', egress: [`127.0.0.1:${apiPort}`, `127.0.0.1:${otherPort}`] },
      {
        ...api,
        name: 'named',
        names: { replace: [{ from: 'api_' }, { from: 'get_', to: 'fetch_' }], prefix: 'shop_' },
        exclude: ['shop_fetch_other'],
      },
      { name: 'free', kind: 'folder', path: join(folder, 'free'), trust: true },
      { name: 'closed', kind: 'folder', path: join(folder, 'closed'), trust: true, network: 'none' },
      { ...server, name: 'free-server', names: { prefix: 'free_' } },
      { ...server, name: 'closed-server', names: { prefix: 'closed_' }, network: 'none' },
    ];
    toolyard = await startTestCluster({
      config: { sources },
      env: { SANDBOX: 'bubblewrap', SANDBOX_NETWORK: 'host', EGRESS_ALLOW_HOSTS: `127.0.0.1:${apiPort}` },
    });
    ({ agent } = toolyard);
    const states = async () => (await agent.get<SourcePage>('/v1/sources')).body.sources.map(({ name, status }) => `${name} ${status}`);
    await eventually(async () => (await states()).filter((it) => it.endsWith(' ok')).length === sources.length, 'all sources to be read');
  });
  afterAll(async () => {
    await toolyard?.close();
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const answerOf = async (tool: string, args: object = {}) => {
    const { outcome, result, error } = await agent.run(tool, args);
    return `${outcome} ${error?.message ?? ''}${result?.content.map((it) => (it.type === 'text' ? it.text : '')).join('') ?? ''}`;
  };
  const names = async () => (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools;

  it('blocks hosts that a source’s definition omits, although the installation allows them', async () => {
    expect(await answerOf('open__api_get_one')).toContain('allowed');
    expect(await answerOf('narrow__api_get_one')).toMatch(/^failed .*127\.0\.0\.1:\d+ is not among the hosts of `egress` of this source/);
  });

  it('blocks hosts that the installation forbids, for any definition of a source', async () => {
    expect(await answerOf('wide__api_get_one')).toContain('allowed');
    for (const source of ['open', 'wide']) expect(await answerOf(`${source}__api_get_other`)).toMatch(/^failed .*Blocked: 127\.0\.0\.1 is/);
  });

  it('offers tools of a source under the names of its rules, and calls them by its own', async () => {
    expect((await names()).filter(({ source }) => source === 'named').map(({ name }) => name)).toEqual(['shop_fetch_one']);
    expect(await answerOf('shop_fetch_one')).toContain('allowed');
  });

  it('shows a program of a folder no file outside of its workspace and no variable of the worker, and lets it change no tool', async () => {
    const [said = '', mine] = (await answerOf('look')).split(/\n(?=mine\n$)/);
    expect(mine).toBe('mine\n');
    expect(said).toMatch(/outside: No such file or directory/);
    expect(said).toMatch(/mark'?: Read-only file system/);
    expect(said).not.toMatch(/of the machine|REDIS_URL|SANDBOX/);
  });

  it('cuts programs of a source off the network by its definition', async () => {
    expect(await answerOf('dial_free')).toMatch(/^completed [^]*\nconnected\n$/);
    expect(await answerOf('dial_closed')).toMatch(/^completed [^]*\ncut off\n$/);
    expect(await answerOf('free_dial', { port })).toMatch(/\nconnected$/);
    expect(await answerOf('closed_dial', { port })).toMatch(/\ncut off$/);
  });
});
