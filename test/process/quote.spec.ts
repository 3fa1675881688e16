import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Quote } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

let toolyard: TestCluster;
let agent: Agent;
beforeAll(async () => {
  toolyard = await startTestCluster({ env: { WORKER_POOLS: 'shell,read', WORKER_CONCURRENCY: 'shell=1,read=1' } });
  agent = new Agent(toolyard.gateways[0]?.url ?? '');
});
afterAll(() => toolyard.close());

/** A command that runs until `open` is called. */
function gated(name: string): { readonly command: string; open(): void } {
  const gate = join(toolyard.workspaceRoot, 'default', 'default', name);
  return {
    command: `until [ -e ${name} ]; do sleep 0.05; done`,
    open: () => {
      // The gate may open before the first command has made its folder.
      mkdirSync(dirname(gate), { recursive: true });
      writeFileSync(gate, '');
    },
  };
}

describe('the expected start of a quote', () => {
  const quoted = async (tool: string, args: object, more: object = {}) =>
    (await agent.request<Quote>('POST', '/v1/calls:quote', { tool, arguments: args, ...more })).body;
  const startOf = async () => (await quoted('shell', { command: 'true' })).expectedStartMs;

  it('quotes the start as now with a free slot, later behind calls that wait, and now again when they are done', async () => {
    await eventually(async () => (await startOf()) === 0, 'a free slot');
    const { command, open } = gated('go');
    const calls = [await agent.submit('shell', { command }), await agent.submit('shell', { command })];
    await eventually(async () => ((await startOf()) ?? 0) > 0, 'a wait');
    open();
    for (const { body } of calls) await agent.ended(body.id);
    await eventually(async () => (await startOf()) === 0, 'a free slot again');
  });

  it('quotes no start when no worker serves the pool, the call is rejected or waits for approval', async () => {
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

describe('a call that waits for a free slot', () => {
  it.each(['queueMs', 'totalMs'])(
    'ends a call that waits for a free slot as timed out in the queue, without a Start, when its %s is over',
    async (timeout) => {
      const { command, open } = gated(`go-${timeout}`);
      const { body: running } = await agent.submit('shell', { command });
      const { body: waiting } = await agent.submit('shell', { command: 'true' }, { timeouts: { [timeout]: 1_000 } });
      const ended = await agent.ended(waiting.id);
      expect(ended).toMatchObject({ outcome: 'timed_out', error: { code: 'queue_timeout' } });
      expect((await agent.events(waiting.id)).map(({ type }) => type)).toEqual(['call.submitted', 'call.end']);
      open();
      expect((await agent.ended(running.id)).outcome).toBe('completed');
    },
  );
});

describe('a call that sleeps', () => {
  it('frees the slot of sleeping calls: others run in a single slot [TB-09]', async () => {
    const long = await Promise.all(
      Array.from({ length: 20 }, async () => (await agent.submit('sleep', { duration_ms: 3_600_000 })).body.id),
    );
    const statusOf = async (id: string) => (await agent.get(`/v1/calls/${id}`)).body;
    for (const id of long) await eventually(async () => (await statusOf(id)).waiting?.reason === 'suspended', 'a call to sleep');
    expect((await agent.run('echo', { meanwhile: true })).outcome).toBe('completed');
    expect((await agent.run('sleep', { duration_ms: 1_500 })).outcome).toBe('completed');
    for (const id of long) expect((await statusOf(id)).status).toBe('queued');
  });
});
