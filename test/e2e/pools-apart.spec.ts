import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startToolyard, type Toolyard } from '../support/toolyard.js';

describe('pools of workers', () => {
  let toolyard: Toolyard;
  let agent: Agent;
  beforeAll(async () => {
    toolyard = await startToolyard({ env: { WORKER_CONCURRENCY: 'shell=2,read=2', DRAIN_MS: '0' } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  }, 60_000);
  afterAll(() => toolyard.close());

  it('end a read within 500 ms while 50 slow shell calls wait for two slots', async () => {
    await agent.run('echo', {});
    const slow = await Promise.all(Array.from({ length: 50 }, async () => (await agent.submit('shell', { command: 'sleep 20' })).body.id));
    const state = async (id = '') => (await agent.get(`/v1/calls/${id}`)).body;
    await eventually(
      async () => (await Promise.all(slow.slice(0, 4).map(state))).some(({ status }) => status === 'running'),
      'a shell call to run',
    );
    const read = await agent.run('echo', {});
    expect(read.outcome).toBe('completed');
    expect(Date.parse(read.endedAt ?? '') - Date.parse(read.submittedAt)).toBeLessThan(500);
    expect(await state(slow.at(-1))).toMatchObject({ status: 'queued', waiting: { reason: 'queued', running: 2 } });
  }, 60_000);
});
