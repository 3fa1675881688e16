import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RedisServer } from '../support/redis-server.mjs';

/** A private Redis server for one contender, with AOF `always`: what is acknowledged is on disk. */
export type StartRedis = () => Promise<RedisServer>;

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

/** CPU time of a process so far, in µs: that of all its threads, from /proc, where it is kept in ns. */
export function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + nanosOf(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1000;
}

function nanosOf(schedstat: string): number {
  try {
    return Number(readFileSync(schedstat, 'utf8').split(' ')[0]);
  } catch {
    return 0; // The thread has ended meanwhile.
  }
}

/** Resident memory in MiB. */
export function residentOf(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1] ?? 0) / 1024;
}
