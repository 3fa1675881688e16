import { spawn, spawnSync } from 'node:child_process';
import { SupervisedChild } from '../child/supervised-child.js';
import type { DataDirectory } from '../data/data-directory.js';
import { killOrphanedRedis } from './orphaned-redis.js';
import { pickEndpoint, type RedisEndpoint } from './redis-endpoint.js';
import { StartupError } from '../start-failure.js';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const MISSING =
  'redis-server is missing. Install it with `apt-get install redis-server` (Debian, Ubuntu) or `brew install redis` (macOS), ' +
  'or run `docker run -d -p 6379:6379 redis:7 --appendonly yes --appendfsync always --maxmemory-policy noeviction` and set REDIS_URL=redis://127.0.0.1:6379.';

/** The server program on PATH. @throws StartupError without one, or with one before Redis 7 */
function findRedisServer(): string {
  for (const program of ['redis-server', 'valkey-server']) {
    const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    if (status !== 0) continue;
    const version = /\bv=(\d+)\.(\d+)/.exec(stdout);
    if (Number(version?.[1]) >= 7) return program;
    throw new StartupError(
      `${program} is version ${version?.[0].slice(2) ?? 'unknown'}, but Toolyard needs 7.0 or newer. Install a newer one, or set REDIS_URL to a server that is.`,
    );
  }
  throw new StartupError(MISSING);
}

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

/** Resolves when Redis answers PONG, after the load of its data. Rejects with the abort reason. */
async function waitForPong(endpoint: RedisEndpoint, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if ((await ping(endpoint)).startsWith('+PONG')) return;
    await delay(25, undefined, { signal }).catch(() => {});
  }
}

/** The reply of Redis, or the error. Never rejects. */
function ping(endpoint: RedisEndpoint): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ ...endpoint.connect }, () => socket.write('PING\r\n'));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once('data', (data: Buffer) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once('error', (error) => resolve(error.message));
    socket.once('close', () => resolve('closed'));
  });
}
