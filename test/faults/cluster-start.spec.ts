import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { type ClusterRedis, startClusterRedis } from '../support/cluster-redis.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('a cluster with a master that hangs', () => {
  let redis: ClusterRedis;
  let toolyard: TestCluster;
  beforeAll(async () => {
    redis = await startClusterRedis();
    toolyard = await startTestCluster({ gateways: 0, workers: 0, env: { REDIS_URL: redis.url, WORKER_POOLS: 'read' } });
  });
  afterAll(async () => {
    await toolyard?.close();
    await redis?.stop();
  });

  it('starts gateways and workers beside a master that hangs, and runs calls', async () => {
    redis.masters[0]?.signal('SIGSTOP');
    const env = { START_TIMEOUT_MS: '60000' };
    const [gateway] = await Promise.all([toolyard.gateway(env), toolyard.worker(env)]);
    const calls = Array.from({ length: 20 }, (_, n) => new Agent(gateway.url).run('echo', { n }));
    expect((await Promise.all(calls)).map(({ outcome }) => outcome)).toEqual(calls.map(() => 'completed'));
  });
});
