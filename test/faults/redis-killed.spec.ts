import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('Redis killed (SIGKILL) and started again under load', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 1, workers: 2, env: { LEASE_MS: '5000' } });
  });
  afterAll(() => toolyard.close());

  it('ends every call that got a 202 exactly once, and refuses with 503 while it is away [DX-04, DX-10]', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const accepted = new Set<string>();
    const statuses = new Map<number, number>();
    let submitting = true;

    const oneAgent = async (name: number) => {
      for (let n = 0; submitting; n++) {
        const { status, body } = await agent.submit('echo', { name, n }, {}, { 'idempotency-key': `${name}-${n}` });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 202) accepted.add(body.id);
      }
    };
    const agents = Array.from({ length: 8 }, (_unused, name) => oneAgent(name));
    await eventually(() => accepted.size > 200, 'a first load of calls');
    await toolyard.redis.kill();
    const refused = await agent.submit('echo', {});
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await toolyard.redis.start();
    const before = accepted.size;
    await eventually(() => accepted.size > before + 200, 'calls to be accepted again');
    submitting = false;
    await Promise.all(agents);

    expect([...statuses.keys()].filter((status) => status !== 202 && status !== 503)).toEqual([]);
    for (const id of accepted) expect((await agent.ended(id)).outcome).toBe('completed');
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
