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
  const server = await startRedisServer({
    settings: [
      ...plain,
      '--cluster-enabled',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1',
      '--cluster-port',
      String(randomInt(30_000, 60_000)),
    ],
  });
  await ask(server.url, ['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'], 'OK');
  await ask(server.url, ['CLUSTER', 'INFO'], 'cluster_state:ok');
  return { url: server.url.replace('redis://', 'redis+cluster://'), options: { partitions: 5 }, close: () => server.stop() };
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
