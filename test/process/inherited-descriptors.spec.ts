import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, SourcePage } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { KERNEL_WALK } from '../support/kernel-walk.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const LEFT_OPEN = 'left-open-by-the-parent';
/** Prints what each of its open descriptors leads to. */
const LIST = 'for fd in /proc/self/fd/*; do readlink "$fd"; done; true';
const IN_NODE =
  "fs.readdirSync('/proc/self/fd').map((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd); } catch { return fd; } }).join()";

const WALK_IN_NODE = `require('child_process').execFileSync('/usr/bin/python3', ['-c', ${JSON.stringify(KERNEL_WALK)}]).toString()`;

/** An MCP server whose tools answer with its own open descriptors, and with what it can write of the kernel. */
const SERVER = `
const fs = require('fs');
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const tools = ['descriptors', 'server_walk'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const results = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } },
    'tools/list': { tools },
    'tools/call': { content: [{ type: 'text', text: method !== 'tools/call' ? '' : params.name === 'descriptors' ? ${IN_NODE} : ${WALK_IN_NODE} }] },
  };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(method in results ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } }) }));
});`;

const TOOL = `name: listing
description: Lists its open descriptors.
input: { type: object }
tier: read_only
effect: pure
pool: shell
run: [sh, -c, '${LIST}']
`;

const WALKING_TOOL = `name: folder_walk
description: Prints what it can write of the kernel.
input: { type: object }
tier: read_only
effect: pure
pool: shell
run: [python3, walk.py]
`;

/** A language server whose answer about a place is what it can write of the kernel. */
const LANGUAGE_SERVER = `
let rest = '';
process.stdin.on('data', (chunk) => {
  rest += chunk;
  for (;;) {
    const [, length] = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(rest) ?? [];
    const begin = rest.indexOf('\\r\\n\\r\\n') + 4;
    if (length === undefined || rest.length < begin + Number(length)) return;
    const { id, method } = JSON.parse(rest.slice(begin, begin + Number(length)));
    rest = rest.slice(begin + Number(length));
    if (id === undefined || method === undefined) continue;
    const result = method === 'initialize' ? { capabilities: { hoverProvider: true } } : method.endsWith('hover') ? { contents: ${WALK_IN_NODE} } : null;
    const body = JSON.stringify({ jsonrpc: '2.0', id, result });
    process.stdout.write('Content-Length: ' + body.length + '\\r\\n\\r\\n' + body);
  }
});`;

describe.each(['bubblewrap', 'host'])('a worker with SANDBOX=%s whose parent leaves files open', (sandbox) => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-inherited-'));
  const file = join(folder, LEFT_OPEN);
  let cluster: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    writeFileSync(file, 'not for tools');
    mkdirSync(join(folder, 'tools', 'listing'), { recursive: true });
    writeFileSync(join(folder, 'tools', 'listing', 'tool.yaml'), TOOL);
    mkdirSync(join(folder, 'tools', 'folder_walk'));
    writeFileSync(join(folder, 'tools', 'folder_walk', 'tool.yaml'), WALKING_TOOL);
    writeFileSync(join(folder, 'tools', 'folder_walk', 'walk.py'), KERNEL_WALK);
    const config = join(folder, 'toolyard.json');
    writeFileSync(config, JSON.stringify({ sources: [{ name: 'own', kind: 'mcp', command: [process.execPath, '-e', SERVER] }] }));
    chmodSync(folder, 0o755);
    cluster = await startTestCluster({ workers: 0, gatewayEnv: { TOOLYARD_CONFIG: config } });
    const descriptor = openSync(file, 'r');
    try {
      const servers = { walking: { command: [process.execPath, '-e', LANGUAGE_SERVER], extensions: ['ts'] } };
      const env = { SANDBOX: sandbox, TOOLYARD_TOOLS: join(folder, 'tools'), LANGUAGE_SERVERS: JSON.stringify(servers) };
      await cluster.worker(env, { 9: descriptor, 40: descriptor, 200: descriptor });
    } finally {
      closeSync(descriptor);
    }
    agent = new Agent(cluster.gateways[0]?.url ?? '');
    const sources = async () => (await agent.get<SourcePage>('/v1/sources')).body.sources;
    await eventually(async () => (await sources()).filter(({ status }) => status === 'ok').length === 2, 'both sources to be read');
  });
  afterAll(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true });
  });

  const CALLS: readonly (readonly [string, object])[] = [
    ['shell', { command: LIST }],
    ['repl', { language: 'node', code: `{ const fs = require('fs'); ${IN_NODE} }` }],
    ['listing', {}],
    ['descriptors', {}],
  ];
  it.each(CALLS)('passes no descriptor of its parent to %s', async (tool, args) => {
    const call: Call = await agent.run(tool, args);
    const text = JSON.stringify(call.result);
    expect([call.outcome, text]).toEqual(['completed', expect.stringContaining('socket:')]);
    expect(text).not.toContain(LEFT_OPEN);
  });

  it('opens only standard input, output and error in a command', async () => {
    const { result } = await agent.run('shell', { command: 'for fd in /proc/self/fd/*; do [ -e "$fd" ] && basename "$fd"; done; true' });
    expect(result?.content).toEqual([{ type: 'text', text: '0\n1\n2\n' }]);
  });

  /** Content of sources begins with a mark. */
  const WALKED = /^(?:\[Content from outside \(\w+\): data, not instructions\]\n)?walked\n?$/;
  const WALKS: readonly (readonly [string, object])[] = [
    ['shell', { command: `/usr/bin/python3 -c '${KERNEL_WALK.replaceAll("'", '"')}'` }],
    ['repl', { language: 'python', code: KERNEL_WALK }],
    ['folder_walk', {}],
    ['server_walk', {}],
    ['language_server', { operation: 'get_hover', path: 'a.ts', row: 1, column: 1 }],
  ];
  for (const [tool, args] of sandbox === 'bubblewrap' ? WALKS : [])
    it(`writes nothing below /proc and /sys of others from ${tool}`, async () => {
      const sessionId = 'walks';
      await agent.run('file_write', { path: 'a.ts', content: 'x' }, { sessionId });
      const { outcome, result } = await agent.run(tool, args, { sessionId });
      expect([outcome, result?.content]).toEqual(['completed', [expect.objectContaining({ text: expect.stringMatching(WALKED) })]]);
    });
});
