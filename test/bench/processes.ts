import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RedisServer } from '../support/redis-server.mjs';

/** A private Redis server for one contender. With AOF `always` what is acknowledged is on disk. */
export type StartRedis = (fsync?: 'always' | 'everysec') => Promise<RedisServer>;

/** Starts a Node process of the bench and waits for its `ready` message. */
export async function forkReady(file: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with ${code} before it was ready.`)));
  await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  return child;
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const forced = setTimeout(() => child.kill('SIGKILL'), 5000);
  await once(child, 'exit');
  clearTimeout(forced);
}

const MICROS_A_TICK = 10_000;

/**
 * CPU time of a process so far and of those that it has started, in µs, from /proc; of the bench itself without them. For those
 * that live it is kept in ns, for those that have ended in ticks of 10 ms.
 */
export function cpuOf(pid: number): number {
  const threads = list(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  const own = threads.reduce((sum, thread) => sum + nanosOf(`${thread}/schedstat`), 0) / 1000;
  if (pid === process.pid) return own;
  // Fields after the name in parentheses: state, ..., and as 14th and 15th the user and system time of children that were
  // waited for.
  const stat = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  const ended = (Number(stat[13] ?? 0) + Number(stat[14] ?? 0)) * MICROS_A_TICK;
  return threads.flatMap(childrenOf).reduce((sum, child) => sum + cpuOf(child), own + ended);
}

function childrenOf(thread: string): number[] {
  const pids = read(`${thread}/children`).split(' ');
  return pids.filter((pid) => pid !== '').map(Number);
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Empty when the process or thread has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function nanosOf(schedstat: string): number {
  return Number(read(schedstat).split(' ')[0]);
}

/** Resident memory in MiB. */
export function residentOf(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1] ?? 0) / 1024;
}
