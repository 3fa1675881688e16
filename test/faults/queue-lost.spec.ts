import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('the BullMQ queues wiped while calls wait in them', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster({ workers: 0 });
  });
  afterAll(() => toolyard.close());

  it('costs time but no call: the log dispatches them again', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const ids = await Promise.all(Array.from({ length: 100 }, async (_unused, n) => (await agent.submit('echo', { n })).body.id));
    const redis = createRedis(toolyard.redis.url);
    const queueKeys = await redis.keys('{q-*');
    expect(queueKeys.length).toBeGreaterThan(0);
    await redis.del(...queueKeys);
    redis.disconnect();

    await toolyard.worker();
    const calls = await Promise.all(ids.map((id) => agent.ended(id)));
    expect(calls.map((call) => call.outcome)).toEqual(calls.map(() => 'completed'));
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
