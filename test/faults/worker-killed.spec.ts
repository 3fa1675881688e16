import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { violationsOf } from '../support/installation-log.js';
import { startToolyard, type Toolyard } from '../support/toolyard.js';

const LEASE = { LEASE_MS: '1500' };

describe('a worker that is killed (SIGKILL) while it runs calls', () => {
  let toolyard: Toolyard;
  let agent: Agent;
  beforeAll(async () => {
    toolyard = await startToolyard({ workers: 0, env: LEASE });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(() => toolyard.close());

  it('has its reads run again elsewhere: all of them complete [DX-03]', async () => {
    const folder = join(toolyard.workspaceRoot, 'default', 'default');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'big.txt'), 'a line of text\n'.repeat(500_000));

    const victim = await toolyard.worker();
    const stream = await agent.stream();
    stream.send({ op: 'subscribe', id: 'reads', filter: { tool: 'file_read' } });
    await stream.frame('subscribed', 'reads');
    // At the very first Start, before any read can be through.
    stream.socket.on('message', (data: Buffer) => data.includes('"call.start"') && victim.signal('SIGKILL'));
    const ids = await Promise.all(
      Array.from({ length: 60 }, async () => (await agent.submit('file_read', { path: 'big.txt', offset: 499_999, limit: 1 })).body.id),
    );
    await victim.ended();
    await toolyard.worker();

    // Also what the victim had fetched but not begun starts about a lease later.
    const calls = await Promise.all(ids.map((id) => agent.ended(id, 20_000)));
    expect(calls.map((call) => call.outcome)).toEqual(calls.map(() => 'completed'));
    expect(calls.some((call) => call.attempt > 1)).toBe(true);
    stream.close();
  });

  it('ends its shell call as unknown and never runs it again [CC-37, DX-03]', async () => {
    const victim = toolyard.workers.at(-1);
    const { body } = await agent.submit('shell', { command: 'echo once >> ran.txt; sleep 30' });
    await eventually(async () => (await agent.get(`/v1/calls/${body.id}`)).body.status === 'running', 'the shell to run');
    const marker = await eventually(
      async () => (await agent.run('file_read', { path: 'ran.txt' })).outcome === 'completed',
      'the command to have begun',
    );
    expect(marker).toBe(true);
    victim?.signal('SIGKILL');
    await victim?.ended();
    await toolyard.worker();

    const call = await agent.ended(body.id);
    expect(call).toMatchObject({ outcome: 'unknown', error: { code: 'outcome_unknown' }, attempt: 1, result: { isError: true } });
    const after = await agent.run('shell', { command: 'cat ran.txt' });
    expect(after.result?.content).toEqual([{ type: 'text', text: 'once\n' }]);
  });

  it('leaves a log that keeps every invariant [DX-04, EV-03]', async () => {
    expect(await violationsOf(toolyard.redis.url)).toEqual([]);
  });
});
