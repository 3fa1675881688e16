import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { type ClusterRedis, startClusterOfOne, startClusterRedis } from '../support/cluster-redis.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.mjs';
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

  it('starts gateways and workers beside a master that hangs, then after the kill of each other one, and runs calls', async () => {
    redis.masters[0]?.signal('SIGSTOP');
    await startAndRun();
    for (const n of [1, 2]) {
      // Two of three masters choose the next one.
      await isMaster(redis.replicas[n - 1]);
      await redis.masters[n]?.kill();
      await startAndRun();
    }
  });
});

describe('a cluster that speaks TLS', () => {
  let folder = '';
  let tlsPort = 0;
  let redis: Awaited<ReturnType<typeof startClusterOfOne>>;
  let toolyard: TestCluster;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-tls-'));
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', [...request, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
    tlsPort = await freePort();
    const files = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate];
    redis = await startClusterOfOne(['--tls-port', String(tlsPort), '--tls-auth-clients', 'no', '--tls-cluster', 'yes', ...files]);
    toolyard = await startTestCluster({ gateways: 0, workers: 0, env: { REDIS_URL: redis.url } });
    const env = { REDIS_URL: `rediss+cluster://127.0.0.1:${tlsPort}`, NODE_EXTRA_CA_CERTS: certificate };
    await Promise.all([toolyard.gateway(env), toolyard.worker(env)]);
  });
  afterAll(async () => {
    await toolyard?.close();
    await redis?.server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('runs calls through a cluster by TLS alone', async () => {
    expect((await toolyard.agent.run('echo', { n: 1 })).outcome).toBe('completed');
    const plain = createRedis(redis.server.url);
    const clients = String(await plain.client('LIST'))
      .split('\n')
      .filter((line) => line !== '' && !line.includes(' cmd=client'));
    plain.disconnect();
    expect(clients.length).toBeGreaterThan(5);
    expect(clients.filter((line) => !line.includes(` laddr=127.0.0.1:${tlsPort} `))).toEqual([]);
  });
});
