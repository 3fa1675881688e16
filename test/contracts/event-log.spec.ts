import { createRedis } from '#redis';
import { startClusterOfOne } from '../support/cluster-redis.js';
import { startRedisServer } from '../support/redis-server.mjs';
import { eventLogContract } from './event-log.contract.js';

const plain = ['--save', '', '--appendonly', 'no'];

eventLogContract('a single node', async () => {
  const server = await startRedisServer();
  return { url: server.url, options: { partitions: 16 }, close: () => server.stop() };
});

eventLogContract('a cluster', async () => {
  const { server, url } = await startClusterOfOne();
  return { url, options: { partitions: 5 }, close: () => server.stop() };
});

eventLogContract('a master with a replica, durability replicated', async () => {
  const master = await startRedisServer();
  const replica = await startRedisServer({ settings: [...plain, '--replicaof', '127.0.0.1', String(master.port)] });
  await ask(master.url, ['INFO', 'replication'], 'state=online');
  return {
    url: master.url,
    options: { partitions: 16, durability: 'replicated' },
    close: async () => {
      await replica.stop();
      await master.stop();
    },
  };
});

/** Asks until the answer has `expected` in it, at most 20 s. */
async function ask(url: string, [command = '', ...args]: readonly string[], expected: string): Promise<void> {
  const node = createRedis(url);
  const deadline = Date.now() + 20_000;
  while (!String(await node.call(command, ...args)).includes(expected)) {
    if (Date.now() > deadline) throw new Error(`${command} did not answer "${expected}" within 20 s.`);
  }
  node.disconnect();
}
