import { spawn } from 'node:child_process';
import { SupervisedChild } from '../child/supervised-child.js';
import type { DataDirectory } from '../data/data-directory.js';
import { waitForPong } from './wait-for-pong.js';
import { killOrphanedRedis } from './orphaned-redis.js';
import { findRedisServer } from './redis-binary.js';
import { pickEndpoint } from './redis-endpoint.js';

/** Every write is on disk before its reply, and nothing is evicted: the event log must be durable. */
const DURABLE = [
  '--appendonly',
  'yes',
  '--appendfsync',
  'always',
  '--aof-load-truncated',
  'yes',
  '--save',
  '',
  '--maxmemory-policy',
  'noeviction',
];

export interface EmbeddedRedis {
  readonly url: string;
  readonly pid: number | undefined;
  /** Stops it with its AOF complete, with SIGKILL after 15 s. Idempotent. */
  stop(): Promise<void>;
}

/**
 * A private Redis as a child process in its own process group, so that the terminal's Ctrl-C does not reach it. If it exits, it
 * is restarted on the same endpoint and data, with backoff; clients reconnect by themselves. If this process exits without
 * `stop`, the child gets SIGTERM.
 *
 * @throws StartupError
 */
export async function startEmbeddedRedis(directory: DataDirectory, tell: (line: string) => void): Promise<EmbeddedRedis> {
  const program = findRedisServer();
  await killOrphanedRedis(directory);
  const endpoint = await pickEndpoint(directory.redisSocket);
  const words = [
    ...endpoint.settings,
    '--dir',
    directory.redis,
    '--pidfile',
    directory.redisPid,
    '--logfile',
    directory.redisLog,
    ...DURABLE,
  ];
  const keeper = new SupervisedChild({
    name: 'Redis',
    launch: () => spawn(program, words, { detached: true, stdio: 'ignore' }),
    stopSignal: 'SIGTERM',
    logPath: directory.redisLog,
    meanwhile: 'Calls continue afterwards',
    tell,
  });
  const abandon = () => keeper.abandon();
  process.once('exit', abandon);
  const stop = () => keeper.stop().finally(() => process.off('exit', abandon));
  try {
    await keeper.firstStart((signal) => waitForPong(endpoint, signal));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: endpoint.url,
    get pid() {
      return keeper.pid;
    },
    stop,
  };
}
