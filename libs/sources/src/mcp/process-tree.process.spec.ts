import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { SourceDefinition } from '#contracts';
import { isAlive } from '../../../../test/support/hook-tenant.js';
import { mcpConnector } from '../testing/mcp-connector.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-tree-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a child with a child of its own, both in sessions of their own, and writes their ids before it answers anything. */
const PROGRAM = `
const { spawn } = require('child_process');
const pids = process.argv[1];
const child = "const { spawn } = require('child_process'); const its = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });" +
  "require('fs').writeFileSync(process.argv[1], process.pid + ' ' + its.pid); setInterval(() => {}, 1000)";
spawn(process.execPath, ['-e', child, pids], { detached: true, stdio: 'ignore' });
while (!require('fs').existsSync(pids)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
const results = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'tree', version: '1' } },
  'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
};
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const rest = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...rest }));
});`;

it('ends the whole process tree of an MCP server with its connection, children in sessions of their own too', async () => {
  const pids = join(folder, 'pids');
  const connector = mcpConnector([], { folder });
  const definition = SourceDefinition.parse({ name: 'tree', kind: 'mcp', command: [process.execPath, '-e', PROGRAM, pids] });
  const connection = await connector.open({ tenantId: 't', origin: 'api', definition }, AbortSignal.timeout(60_000));
  expect(await connection.list(AbortSignal.timeout(60_000))).toMatchObject({ tools: [{ rawName: 't' }] });
  const descendants = readFileSync(pids, 'utf8').split(' ');
  expect(descendants.map(isAlive)).toEqual([true, true]);
  await connection.close();
  expect(descendants.map(isAlive)).toEqual([false, false]);
});
