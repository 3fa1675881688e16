import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startReplicatedRedis, type ReplicatedRedis } from '../support/replicated-redis.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Ten times what a client has to wait at most in the median. */
const DEADLINE_MS = 150_000;

describe('after the death of a master that Sentinel watches', () => {
  let redis: ReplicatedRedis;
  let toolyard: TestCluster;
  beforeAll(async () => {
    redis = await startReplicatedRedis({ replicas: 2 });
    toolyard = await startTestCluster({ gateways: 2, env: { REDIS_URL: redis.url, DURABILITY: 'replicated', REPLICAS: '1' } });
  });
  afterAll(async () => {
    await toolyard?.close();
    await redis?.stop();
  });

  it('runs calls to their End at every gateway after the death of a master, also those submitted before', async () => {
    const agents = toolyard.gateways.map(({ url }) => new Agent(url));
    const first = agents[0] ?? new Agent('');
    expect((await first.run('echo', { n: 0 })).outcome).toBe('completed');
    const { body: before } = await first.submit('shell', { command: 'sleep 1; echo done' });
    const dead = await redis.master();
    await dead.kill();
    for (const [name, agent] of agents.entries()) {
      const submit = () => agent.submit('echo', { name }, {}, { 'idempotency-key': `after-${name}`, prefer: 'wait=1' });
      const answered = async () => {
        const answer = await submit().catch(() => undefined);
        return answer?.body.status === 'ended' ? answer.body : undefined;
      };
      expect((await eventually(answered, 'a call to end', DEADLINE_MS)).outcome).toBe('completed');
    }
    await redis.promoted(dead);
    for (const { url } of [...toolyard.gateways, ...toolyard.workers])
      await eventually(async () => (await fetch(`${url}/readyz`)).ok, `${url} to be ready`, DEADLINE_MS);
    // Any outcome is accepted: a lease may end before the new master is there.
    const isOver = async () => (await first.get(`/v1/calls/${before.id}`)).body.status === 'ended';
    await eventually(isOver, 'the earlier call to end', DEADLINE_MS);
  });
});
