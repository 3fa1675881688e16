import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('a call that waits for input while everything is killed (SIGKILL) and started again', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    toolyard = await startTestCluster({ env: { LEASE_MS: '8000' } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(() => toolyard.close());

  const status = async (id: string, expected: string) => {
    await eventually(async () => (await agent.get(`/v1/calls/${id}`)).body.status === expected, `the call to be ${expected}`);
  };
  const kill = async (apps: TestCluster['workers']) => {
    const killed = apps.splice(0);
    for (const app of killed) app.signal('SIGKILL');
    await Promise.all(killed.map((app) => app.ended()));
  };
  const give = (id: string, value: string) => agent.request('POST', `/v1/calls/${id}/input`, { value });

  it('preserves the question of a call over a kill, accepts the value at another gateway, and ends once', async () => {
    const { body: call } = await agent.submit('ask_user', { question: 'Which?' });
    await status(call.id, 'waiting_input');
    await Promise.all([kill(toolyard.gateways), kill(toolyard.workers)]);
    await toolyard.redis.kill();
    await toolyard.redis.start();
    agent = new Agent((await toolyard.gateway()).url);
    await status(call.id, 'waiting_input');
    // No worker lives: the value is in the log.
    expect((await give(call.id, 'main')).status).toBe(200);
    await kill(toolyard.gateways);
    agent = new Agent((await toolyard.gateway()).url);
    await toolyard.worker();
    expect(await agent.ended(call.id)).toMatchObject({ outcome: 'completed', result: { content: [{ type: 'text', text: 'main' }] } });
    const types = (await agent.events(call.id)).map(({ type }) => type);
    expect(types.filter((type) => type === 'call.end')).toHaveLength(1);
    expect(types.filter((type) => type === 'call.input_given')).toHaveLength(1);
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
