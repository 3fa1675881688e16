import type { Priority } from '#contracts';
import { keys } from '#redis';

/** Implementation of the hot path: ours (many jobs a script) or BullMQ's own. Both share one layout in Redis. */
export type QueueBackend = 'batching' | 'stock';

export const JOB_NAME = 'call';

/** Every job ends after one run and leaves nothing: a remnant would block adding its id again. */
export const JOB_OPTIONS = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/**
 * Every job has a priority, since BullMQ runs jobs without one first. The sorted set costs no more than a list: one command
 * adds or pops many jobs.
 */
export const PRIORITY: Record<Priority, number> = { high: 1, normal: 2, low: 3 };

/** Factor in BullMQ's order `priority * 2^32 + place`; equal in lua/. */
export const PRIORITY_SPAN = 2 ** 32;

/**
 * Seconds after which an idle Worker polls without a marker: a net for lost markers, which wake it at once. Less than the timeout of a
 * blocking connection to a cluster.
 */
export const IDLE_POLL_S = 10;

/** Default lock of fetched jobs, after which a silent worker loses them. */
export const LOCK_MS = 30_000;

/**
 * Options by which jobs of a silent worker are detected within a lock. The batching backend requeues them; in the stock one a
 * stalled job fails and is removed, and its call waits for the reconciler. The log decides what runs again.
 */
export function lockOptions(lockMs: number): { lockDuration: number; stalledInterval: number; maxStalledCount: number } {
  return { lockDuration: lockMs, stalledInterval: Math.min(15_000, Math.max(250, Math.ceil(lockMs / 2))), maxStalledCount: 0 };
}

/** BullMQ's name and prefix of the queue of a pool, or of another queue. */
export function queueName(pool: string): { name: string; prefix: string } {
  return { name: keys.queueName(pool), prefix: keys.queuePrefix(pool) };
}

/** Name by which `getWorkers()` of BullMQ finds the connection that waits for jobs. Redis allows no spaces and only ASCII in it. */
export function workerClientName(pool: string, worker: string): string {
  const { name, prefix } = queueName(pool);
  return `${prefix}:${Buffer.from(name).toString('base64')}:w:${worker.replaceAll(/[^!-~]/g, '-')}`;
}
