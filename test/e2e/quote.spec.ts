import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Quote } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('the expected start of a quote', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    toolyard = await startTestCluster({ env: { WORKER_POOLS: 'shell,read', WORKER_CONCURRENCY: 'shell=1,read=1' } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(() => toolyard.close());

  const quoted = async (tool: string, args: object, more: object = {}) =>
    (await agent.request<Quote>('POST', '/v1/calls:quote', { tool, arguments: args, ...more })).body;
  const startOf = async () => (await quoted('shell', { command: 'true' })).expectedStartMs;

  it('is now with a free slot, later behind calls that wait, and now again when they are done', async () => {
    await eventually(async () => (await startOf()) === 0, 'a free slot');
    const gate = join(toolyard.workspaceRoot, 'default', 'default', 'go');
    const command = 'until [ -e go ]; do sleep 0.05; done';
    const calls = [await agent.submit('shell', { command }), await agent.submit('shell', { command })];
    await eventually(async () => ((await startOf()) ?? 0) > 0, 'a wait');
    // The wait is known before the first command has made its folder.
    mkdirSync(dirname(gate), { recursive: true });
    writeFileSync(gate, '');
    for (const { body } of calls) await agent.ended(body.id);
    await eventually(async () => (await startOf()) === 0, 'a free slot again');
  });

  it('is unknown when no worker serves the pool, the call is rejected or waits for approval', async () => {
    await eventually(async () => (await startOf()) === 0, 'the worker to be known');
    await agent.request('PUT', '/v1/sessions/asked', { posture: { permissionMode: 'prompt' } });
    const quotes = [
      await quoted('file_write', { path: 'a', content: 'b' }),
      await quoted('shell', {}),
      await quoted('shell', { command: 'rm -rf build' }, { sessionId: 'asked' }),
    ];
    expect(quotes.map(({ expectedStartMs }) => expectedStartMs)).toEqual([undefined, undefined, undefined]);
    expect(quotes.map(({ valid, approvalNeeded }) => [valid, approvalNeeded])).toEqual([
      [true, false],
      [false, false],
      [true, true],
    ]);
  });
});
