import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { type ClusterRedis, startClusterRedis } from '../support/cluster-redis.js';
import { eventually } from '../support/eventually.js';
import type { RedisServer } from '../support/redis-server.mjs';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('a cluster with masters that hang or were killed', () => {
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

  const startAndRun = async () => {
    const env = { START_TIMEOUT_MS: '60000' };
    const [gateway] = await Promise.all([toolyard.gateway(env), toolyard.worker(env)]);
    const calls = Array.from({ length: 20 }, (_, n) => new Agent(gateway.url).run('echo', { n }));
    expect((await Promise.all(calls)).map(({ outcome }) => outcome)).toEqual(calls.map(() => 'completed'));
  };

  const isMaster = async (replica: RedisServer | undefined) => {
    const connection = createRedis(replica?.url ?? '');
    await eventually(async () => (await connection.info('replication')).includes('role:master'), 'the replica to be promoted');
    connection.disconnect();
  };

  it('starts gateways and workers beside a master that hangs, and runs calls', async () => {
    redis.masters[0]?.signal('SIGSTOP');
    await startAndRun();
  });

  it('starts gateways and workers each time that a further master was killed, and runs calls', async () => {
    for (const n of [1, 2]) {
      // Two of three masters choose the next one.
      await isMaster(redis.replicas[n - 1]);
      await redis.masters[n]?.kill();
      await startAndRun();
    }
  });
});
