import type { Priority } from '#contracts';
import { keys } from '#redis';

/** Which half of BullMQ's hot path runs: ours (many jobs a script) or BullMQ's own. Both share one layout in Redis. */
export type QueueBackend = 'batching' | 'stock';

export const JOB_NAME = 'call';

/** Every job ends after one run and leaves nothing: a remnant would block adding its id again. */
export const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/**
 * In BullMQ a job without priority runs before all that have one, so each job has one. It costs nothing: the sorted set
 * takes and gives many jobs in one command, a list needs no less.
 */
export const PRIORITY: Record<Priority, number> = { high: 1, normal: 2, low: 3 };

/** BullMQ orders by `priority * 2^32 + place`; the scripts beside know the same number. */
export const PRIORITY_SPAN = 2 ** 32;

/** How long a silent worker keeps the jobs it fetched, unless it says otherwise. */
export const LOCK_MS = 30_000;

/**
 * Jobs of a worker that fell silent are looked for a few times a lock. The batching backend gives them back to the queue;
 * in the stock one a stalled job fails and is removed, and its call waits for the reconciler. The log decides what runs again.
 */
export function lockOptions(lockMs: number): { lockDuration: number; stalledInterval: number; maxStalledCount: number } {
  return { lockDuration: lockMs, stalledInterval: Math.min(5_000, Math.max(250, Math.ceil(lockMs / 4))), maxStalledCount: 0 };
}

/** BullMQ's name and prefix of a pool's queue; also for queues beside the five pools. */
export function queueName(pool: string): { name: string; prefix: string } {
  return { name: keys.queueName(pool), prefix: keys.queuePrefix(pool) };
}

/**
 * The name by which `getWorkers()` of BullMQ finds the connection that waits for jobs. Redis allows no spaces and no
 * characters beyond ASCII in it.
 */
export function workerClientName(pool: string, worker: string): string {
  const { name, prefix } = queueName(pool);
  return `${prefix}:${Buffer.from(name).toString('base64')}:w:${worker.replaceAll(/[^!-~]/g, '-')}`;
}
