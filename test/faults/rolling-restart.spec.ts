import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('SIGTERM of all workers in turn under load', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster({ workers: 3 });
  });
  afterAll(() => toolyard.close());

  it('fails and loses no call at SIGTERM of all workers in turn, and every worker exits with code 0 [DX-09]', async () => {
    const agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const ids: string[] = [];
    let submitting = true;
    const load = Array.from({ length: 6 }, async (_unused, k) => {
      while (submitting) {
        // Some wait in the queue at any time, however fast they are submitted and run.
        const submit = () => (k % 3 === 0 ? agent.submit('shell', { command: 'sleep 0.2; echo done' }) : agent.submit('echo', { k }));
        const some = await Promise.all(Array.from({ length: k % 3 === 0 ? 1 : 5 }, submit));
        ids.push(...some.map(({ body }) => body.id));
        await Promise.all(some.map(({ body }) => agent.ended(body.id)));
      }
    });
    for (const worker of toolyard.workers.slice()) {
      worker.signal('SIGTERM');
      expect(await worker.ended()).toEqual({ code: 0, signal: null });
      await toolyard.worker();
    }
    submitting = false;
    await Promise.all(load);

    const outcomes = new Map<string | undefined, number>();
    for (const id of ids) {
      const { outcome } = await agent.ended(id);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect(outcomes).toEqual(new Map([['completed', ids.length]]));
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
