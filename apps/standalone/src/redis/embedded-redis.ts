import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataDirectory } from '../data/data-directory.js';
import { StartupError } from '../start-failure.js';
import { pingRedis } from './answers-ping.js';
import { killOrphanedRedis } from './orphaned-redis.js';
import { findRedisServer } from './redis-binary.js';
import { pickEndpoint, type RedisEndpoint } from './redis-endpoint.js';

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 15_000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
/** A run this long counts as healthy and resets the backoff. */
const HEALTHY_MS = 30_000;

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
  const keeper = new Keeper(() => spawn(program, words, { detached: true, stdio: 'ignore' }), tell);
  const abandon = () => keeper.abandon();
  process.once('exit', abandon);
  const stop = () => keeper.stop().finally(() => process.off('exit', abandon));
  try {
    await keeper.firstStart(endpoint, directory.redisLog);
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

/** Restarts its child until `stop`. */
class Keeper {
  private child: ChildProcess | undefined;
  private readonly stopping = new AbortController();
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly launch: () => ChildProcess,
    private readonly tell: (line: string) => void,
  ) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  async firstStart(endpoint: RedisEndpoint, logPath: string): Promise<void> {
    const child = this.spawn();
    const failed = new AbortController();
    const exited = ended(child).then((how) => failed.abort(new StartupError(`Redis did not start (${how}): ${lastLine(logPath)}`)));
    const late = setTimeout(
      () => failed.abort(new StartupError(`Redis did not answer within ${READY_WITHIN_MS / 1000} s; see ${logPath}`)),
      READY_WITHIN_MS,
    );
    await pingRedis(endpoint, failed.signal).finally(() => clearTimeout(late));
    void exited.then(() => this.revive(FIRST_BACKOFF_MS, 0));
  }

  /** Called when the child has exited: starts it again, until it runs or `stop` is called. */
  private async revive(backoffMs: number, ranMs: number): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const waitMs = ranMs > HEALTHY_MS ? FIRST_BACKOFF_MS : backoffMs;
    this.tell(`The private Redis exited; restarting it in ${waitMs} ms. Calls continue afterwards.`);
    await delay(waitMs, undefined, { signal: this.stopping.signal }).catch(() => {});
    if (this.stopping.signal.aborted) return;
    const startedAt = performance.now();
    await ended(this.spawn());
    void this.revive(Math.min(waitMs * 2, MAX_BACKOFF_MS), performance.now() - startedAt);
  }

  private spawn(): ChildProcess {
    this.child = this.launch();
    return this.child;
  }

  stop(): Promise<void> {
    this.stopped ??= this.end();
    return this.stopped;
  }

  abandon(): void {
    this.stopping.abort();
    this.child?.kill('SIGTERM');
  }

  private async end(): Promise<void> {
    this.stopping.abort();
    const child = this.child;
    if (!child || hasEnded(child)) return;
    const over = ended(child);
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await over;
    clearTimeout(force);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** The reason of the exit as text; also if it never started. */
function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
}

function lastLine(path: string): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  } catch {
    return `see ${path}`;
  }
}
