import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRedis, type RedisConnection } from '#redis';
import { eventually } from './eventually.js';
import { freePort } from './free-port.mjs';
import { startRedisServer, type RedisServer } from './redis-server.mjs';

const NAME = 'toolyard';
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--repl-diskless-sync-delay', '0'];

/** A master with replicas, and three Sentinels that watch them: all real processes on loopback. */
export interface ReplicatedRedis {
  readonly url: string;
  /** Servers that were started as replicas of the first. */
  readonly servers: readonly RedisServer[];
  /** Master according to Sentinel. */
  master(): Promise<RedisServer>;
  /** Resolves when Sentinel names another master than this one, which takes writes. */
  promoted(old: RedisServer): Promise<RedisServer>;
  /** Resolves when the Sentinels agree that this master is down, or one of them has seen that this replica is. */
  missed(server: RedisServer): Promise<void>;
  /** Resolves when this server follows the master and has all that it had. */
  follows(server: RedisServer): Promise<void>;
  /** Requests a failover, as an operator does before work on the master's machine. */
  failover(): Promise<void>;
  stop(): Promise<void>;
}

export async function startReplicatedRedis({ replicas = 2, settings = [] as readonly string[] } = {}): Promise<ReplicatedRedis> {
  const first = await startRedisServer({ settings: [...DURABLE, ...settings] });
  const followers = await Promise.all(
    Array.from({ length: replicas }, () =>
      startRedisServer({ settings: [...DURABLE, ...settings, '--replicaof', `127.0.0.1 ${first.port}`] }),
    ),
  );
  const servers = [first, ...followers];
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(first.port)));
  const ask = createRedis(`redis://127.0.0.1:${sentinels[0]?.port}`);
  const ofPort = (port: number) => servers.find((server) => server.port === port);

  const redis: ReplicatedRedis = {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${NAME}`,
    servers,
    master: async () => {
      const [, port] = stringsOf(await ask.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME));
      const server = ofPort(Number(port));
      if (server === undefined) throw new Error(`Sentinel names a master at port ${port}, which is none of ours`);
      return server;
    },
    promoted: (old) =>
      eventually(async () => {
        const server = await redis.master();
        return server !== old && (await infoOf(server))['role'] === 'master' ? server : undefined;
      }, `another master than that at port ${old.port}`),
    missed: async (server) => {
      await eventually(async () => {
        const [master, replicas] = await Promise.all(['MASTER', 'REPLICAS'].map((what) => ask.call('SENTINEL', what, NAME)));
        const views = [master, ...(Array.isArray(replicas) ? replicas : [])].map(stringsOf);
        const view = views.find((fields) => fields[fields.indexOf('port') + 1] === String(server.port)) ?? [];
        return /o_down|s_down,slave/.test(view[view.indexOf('flags') + 1] ?? '');
      }, `the Sentinels to miss the server at port ${server.port}`);
    },
    follows: async (server) => {
      await eventually(async () => {
        const [own, master] = await Promise.all([infoOf(server), redis.master().then(infoOf)]);
        return own['role'] === 'slave' && own['master_link_status'] === 'up' && own['slave_repl_offset'] === master['master_repl_offset'];
      }, `the server at port ${server.port} to follow the master`);
    },
    failover: async () => {
      // Refused while Sentinel is at the failover before, or has not seen that a replica follows the new master.
      const isTaken = () =>
        ask.call('SENTINEL', 'FAILOVER', NAME).catch((error: Error) => {
          if (!/^(INPROG|NOGOODSLAVE)\b/.test(error.message)) throw error;
        });
      await eventually(isTaken, 'Sentinel to begin the failover');
    },
    stop: async () => {
      ask.disconnect();
      await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
  try {
    await Promise.all(followers.map((server) => redis.follows(server)));
    await Promise.all(sentinels.map(({ port }) => knowsAll(port, replicas)));
  } catch (error) {
    await redis.stop();
    throw error;
  }
  return redis;
}

/** A Sentinel that does not know the other Sentinels and the replicas yet cannot elect a leader or promote a replica. */
async function knowsAll(port: number, replicas: number): Promise<void> {
  const sentinel = createRedis(`redis://127.0.0.1:${port}`);
  try {
    await eventually(async () => {
      const fields = stringsOf(await sentinel.call('SENTINEL', 'MASTER', NAME));
      const field = (name: string) => Number(fields[fields.indexOf(name) + 1]);
      return field('num-slaves') === replicas && field('num-other-sentinels') === 2;
    }, `the Sentinel at port ${port} to know all others`);
  } finally {
    sentinel.disconnect();
  }
}

async function startSentinel(masterPort: number): Promise<{ port: number; stop(): Promise<void> }> {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-sentinel-'));
  const file = join(dir, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${NAME} 1000`,
    `sentinel failover-timeout ${NAME} 5000`,
  ];
  writeFileSync(file, lines.join('\n'));
  const child: ChildProcess = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    port,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function infoOf(server: RedisServer): Promise<Record<string, string>> {
  const redis: RedisConnection = createRedis(server.url);
  try {
    const lines = (await redis.info('replication')).split('\r\n').filter((line) => line.includes(':'));
    return Object.fromEntries(lines.map((line) => line.split(':', 2)));
  } finally {
    redis.disconnect();
  }
}

function stringsOf(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}
