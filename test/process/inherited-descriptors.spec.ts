import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call, SourcePage } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const LEFT_OPEN = 'left-open-by-the-parent';
/** Prints what each of its open descriptors leads to. */
const LIST = 'for fd in /proc/self/fd/*; do readlink "$fd"; done; true';
const IN_NODE =
  "fs.readdirSync('/proc/self/fd').map((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd); } catch { return fd; } }).join()";

/** An MCP server whose one tool answers with its own open descriptors. */
const SERVER = `
const fs = require('fs');
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const tool = { name: 'descriptors', inputSchema: { type: 'object' } };
  const results = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } },
    'tools/list': { tools: [tool] },
    'tools/call': { content: [{ type: 'text', text: ${IN_NODE} }] },
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

describe.each(['bubblewrap', 'host'])('a worker with SANDBOX=%s whose parent leaves files open', (sandbox) => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-inherited-'));
  const file = join(folder, LEFT_OPEN);
  let cluster: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    writeFileSync(file, 'not for tools');
    mkdirSync(join(folder, 'tools', 'listing'), { recursive: true });
    writeFileSync(join(folder, 'tools', 'listing', 'tool.yaml'), TOOL);
    const config = join(folder, 'toolyard.json');
    writeFileSync(config, JSON.stringify({ sources: [{ name: 'own', kind: 'mcp', command: [process.execPath, '-e', SERVER] }] }));
    chmodSync(folder, 0o755);
    cluster = await startTestCluster({ workers: 0, gatewayEnv: { TOOLYARD_CONFIG: config } });
    const descriptor = openSync(file, 'r');
    try {
      const env = { SANDBOX: sandbox, TOOLYARD_TOOLS: join(folder, 'tools') };
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
  it.each(CALLS)('gives no descriptor of its parent to %s', async (tool, args) => {
    const call: Call = await agent.run(tool, args);
    const text = JSON.stringify(call.result);
    expect([call.outcome, text]).toEqual(['completed', expect.stringContaining('socket:')]);
    expect(text).not.toContain(LEFT_OPEN);
  });

  it('opens nothing in a command but its standard input, output and error', async () => {
    const { result } = await agent.run('shell', { command: 'for fd in /proc/self/fd/*; do [ -e "$fd" ] && basename "$fd"; done; true' });
    expect(result?.content).toEqual([{ type: 'text', text: '0\n1\n2\n' }]);
  });
});
