import { createRedis, type RedisConnection } from '#redis';
import { eventually } from './eventually.js';
import { freePort } from './free-port.mjs';
import { startRedisServer, type RedisServer } from './redis-server.mjs';

const MASTERS = 3;
const SLOTS = 16_384;
const SETTINGS = ['--save', '', '--appendonly', 'no', '--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
/** A master that is away is replaced soon, and slots without a node do not end the others. */
const REPLICATED = ['--cluster-node-timeout', '2000', '--cluster-require-full-coverage', 'no', '--repl-diskless-sync-delay', '0'];

/** Three masters with a replica each: real processes on loopback. A master that is away for 2 s is replaced. */
export interface ClusterRedis {
  readonly url: string;
  /** The masters of the beginning. */
  readonly masters: readonly RedisServer[];
  /** Replicas of the masters, in the same order. */
  readonly replicas: readonly RedisServer[];
  stop(): Promise<void>;
}

export async function startClusterRedis(): Promise<ClusterRedis> {
  const nodes = await Promise.all(Array.from({ length: 2 * MASTERS }, () => startNode(REPLICATED)));
  const servers = nodes.map(({ server }) => server);
  const connections = servers.map((server) => createRedis(server.url));
  try {
    await join(nodes, connections);
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop()));
    throw error;
  } finally {
    for (const connection of connections) connection.disconnect();
  }
  return {
    url: `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    masters: servers.slice(0, MASTERS),
    replicas: servers.slice(MASTERS),
    stop: async () => {
      for (const server of servers) server.signal('SIGCONT');
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A cluster of one node that has every slot: what a cluster refuses (commands across slots) without its failovers. */
export async function startClusterOfOne(settings: readonly string[] = []): Promise<{ readonly server: RedisServer; readonly url: string }> {
  const { server } = await startNode(settings);
  const node = createRedis(server.url);
  try {
    await node.call('CLUSTER', 'ADDSLOTSRANGE', 0, SLOTS - 1);
    await eventually(async () => String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok'), 'the cluster to be ready');
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    node.disconnect();
  }
  return { server, url: server.url.replace('redis://', 'redis+cluster://') };
}

interface ClusterNode {
  readonly server: RedisServer;
  readonly busPort: number;
}

/** Starts a node with a bus port of its own: the default, 10,000 above the other, may be in use by a connection. */
async function startNode(settings: readonly string[] = []): Promise<ClusterNode> {
  const busPort = await freePort();
  const server = await startRedisServer({ settings: [...SETTINGS, '--cluster-port', String(busPort), ...settings] });
  return { server, busPort };
}

async function join(servers: readonly ClusterNode[], nodes: readonly RedisConnection[]): Promise<void> {
  const [seed] = servers;
  const [first, ...others] = nodes;
  const masters = nodes.slice(0, MASTERS);
  await Promise.all(others.map((node) => node.call('CLUSTER', 'MEET', '127.0.0.1', seed?.server.port ?? 0, seed?.busPort ?? 0)));
  const share = Math.ceil(SLOTS / MASTERS);
  await Promise.all(masters.map((node, n) => node.call('CLUSTER', 'ADDSLOTSRANGE', n * share, Math.min(SLOTS, (n + 1) * share) - 1)));
  const knows = async (node: RedisConnection, what: RegExp) => what.test(String(await node.call('CLUSTER', 'INFO')));
  const know = (what: RegExp) => async () => (await Promise.all(nodes.map((node) => knows(node, what)))).every(Boolean);
  await eventually(know(new RegExp(`cluster_known_nodes:${nodes.length}\r`)), 'all nodes to know each other');
  const ids = await Promise.all(masters.map((node) => node.call('CLUSTER', 'MYID')));
  await Promise.all(nodes.slice(MASTERS).map((node, n) => node.call('CLUSTER', 'REPLICATE', String(ids[n]))));
  await eventually(know(/cluster_state:ok\r/), 'the cluster to be ready');
  const known = async () => JSON.stringify(await first?.call('CLUSTER', 'SLOTS')).split('127.0.0.1').length - 1;
  await eventually(async () => (await known()) >= 2 * MASTERS, 'the replicas to be known');
}
