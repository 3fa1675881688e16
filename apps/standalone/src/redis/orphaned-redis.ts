import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataDirectory } from '../data/data-directory.js';
import { isRedisServerIn } from '../data/process-identity.js';

const POLITE_MS = 10_000;

/**
 * Stops the Redis that a killed Toolyard left running on this data directory: with SIGTERM, so that its AOF is complete, then
 * with SIGKILL. The caller holds the directory's lock. A process that reuses the pid is not touched.
 */
export async function killOrphanedRedis(directory: DataDirectory): Promise<void> {
  const pid = readPid(directory.redisPid);
  if (pid !== undefined && isRedisServerIn(pid, directory.redis)) {
    process.kill(pid, 'SIGTERM');
    if (!(await isGone(pid, directory, POLITE_MS))) {
      process.kill(pid, 'SIGKILL');
      await isGone(pid, directory, POLITE_MS);
    }
  }
  rmSync(directory.redisPid, { force: true });
  rmSync(directory.redisSocket, { force: true });
}

async function isGone(pid: number, directory: DataDirectory, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (isRedisServerIn(pid, directory.redis)) {
    if (performance.now() > deadline) return false;
    await delay(25);
  }
  return true;
}

function readPid(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8').trim());
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}
