import { randomInt } from 'node:crypto';
import { createRedis } from '#redis';
import { startRedisServer } from '../support/redis-server.mjs';
import { eventLogContract } from './event-log.contract.js';

const plain = ['--save', '', '--appendonly', 'no'];

eventLogContract('a single node', async () => {
  const server = await startRedisServer();
  return { url: server.url, options: { partitions: 16 }, close: () => server.stop() };
});

eventLogContract('a cluster', async () => {
  const server = await startRedisServer({ settings: [...plain, '--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--cluster-port', String(randomInt(30_000, 60_000))] });
  const node = createRedis(server.url);
  await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  const deadline = Date.now() + 10_000;
  while (!String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) if (Date.now() > deadline) throw new Error('the cluster did not come up within 10 s');
  node.disconnect();
  return { url: server.url.replace('redis://', 'redis+cluster://'), options: { partitions: 5 }, close: () => server.stop() };
});

eventLogContract('a master with a replica, durability replicated', async () => {
  const master = await startRedisServer();
  const replica = await startRedisServer({ settings: [...plain, '--replicaof', '127.0.0.1', String(master.port)] });
  return {
    url: master.url,
    options: { partitions: 16, durability: 'replicated' },
    close: async () => {
      await replica.stop();
      await master.stop();
    },
  };
});
