import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('a gateway that is killed (SIGKILL) right after its 202', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster({ lists: true, gateways: 2, workers: 1 });
  });
  afterAll(() => toolyard.close());

  it('loses no call that a gateway accepted right before it was killed', async () => {
    const [victim, survivor] = toolyard.gateways;
    const agent = new Agent(victim?.url ?? '');
    const accepted: string[] = [];
    const submissions = Array.from({ length: 100 }, async (_unused, n) => {
      const { status, body } = await agent.submit('echo', { n }, {}, { 'idempotency-key': `kill-${n}` });
      expect(status).toBe(202);
      if (accepted.push(body.id) === 20) victim?.signal('SIGKILL');
    });
    await Promise.allSettled(submissions);
    await victim?.ended();
    expect(accepted.length).toBeGreaterThanOrEqual(20);

    const other = new Agent(survivor?.url ?? '');
    const calls = await Promise.all(accepted.map((id) => other.ended(id)));
    expect(calls.map((call) => call.outcome)).toEqual(calls.map(() => 'completed'));
  });

  it('lets an agent without an answer ask again by its Idempotency-Key, without a second call', async () => {
    const other = new Agent(toolyard.gateways[1]?.url ?? '');
    const again = await Promise.all(
      Array.from({ length: 100 }, async (_unused, n) => other.submit('echo', { n }, {}, { 'idempotency-key': `kill-${n}` })),
    );
    await Promise.all(again.map(({ body }) => other.ended(body.id)));
    const { body } = await other.get<{ calls: { id: string }[] }>('/v1/calls?limit=200&tool=echo');
    expect(body.calls).toHaveLength(100);
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
