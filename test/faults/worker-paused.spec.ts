import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { violationsOf } from '../support/installation-log.js';
import { startToolyard, type AppProcess, type Toolyard } from '../support/toolyard.js';

describe('a worker that is paused (SIGSTOP) for longer than its lease', () => {
  let toolyard: Toolyard;
  beforeAll(async () => {
    toolyard = await startToolyard({ workers: 1, env: { LEASE_MS: '1500' } });
  });
  afterAll(() => toolyard.close());

  const fencedOff = async (worker: AppProcess | undefined) => {
    const metrics = await (await fetch(`${worker?.url}/metrics`)).text();
    return (
      /toolyard_lease[s]?_lost_total\{[^}]*\} [1-9]/.test(metrics) ||
      /toolyard_transitions_refused_total\{[^}]*code="(FENCED|ENDED)"[^}]*\} [1-9]/.test(metrics)
    );
  };

  it('finds its call ended by another worker when it wakes, and its own End refused', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const [paused] = toolyard.workers;
    const { body } = await agent.submit('shell', { command: 'sleep 3; echo late' });
    await eventually(async () => (await agent.get(`/v1/calls/${body.id}`)).body.status === 'running', 'the call to run');
    paused?.signal('SIGSTOP');
    await toolyard.worker();

    const call = await agent.ended(body.id);
    expect(call).toMatchObject({ outcome: 'unknown', error: { code: 'outcome_unknown' } });
    paused?.signal('SIGCONT');
    await eventually(() => fencedOff(paused), 'the paused worker to notice that it is out');

    expect((await agent.get(`/v1/calls/${body.id}`)).body).toEqual(call);
    expect((await agent.events(body.id)).filter((event) => event.type === 'call.end')).toHaveLength(1);
    expect(await violationsOf(toolyard.redis.url)).toEqual([]);
  });
});
