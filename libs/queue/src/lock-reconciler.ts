import { lockOptions } from './bull-settings.js';
import { nextJob } from './dequeued-jobs.js';
import type { IdleRegistration } from './idle-registration.js';
import type { JobPrefetcher } from './job-prefetcher.js';
import { keysOf, type WorkerQueueContext } from './queue-context.js';
import { requeueOwnedScript, requeueStalledScript } from './queue-scripts.js';
import type { WorkerWakeup } from './worker-wakeup.js';

/**
 * What becomes of jobs under this worker's lock that it does not hold, because an answer was lost with its connection:
 * - `requeue`: they have not begun, so they go back to the front of the queue, and so do those that were fetched ahead.
 * - `reclaim`: the dequeue hook has run for them, so this worker runs them.
 */
export type ReconcileMode =
  | { readonly kind: 'requeue' }
  | { readonly kind: 'reclaim'; readonly idleKey: string; readonly registration: IdleRegistration };

/**
 * Keeps the jobs under this worker's lock equal to the jobs that it holds, and requeues jobs of dead workers.
 *
 * Invariant: between `invalidate` and the next `reconcile` no job is fetched, as BatchedCommands reconciles first.
 */
export class LockReconciler {
  /** `unsure`: jobs may be under our lock that this worker does not hold, or will not run. */
  private state: 'reconciled' | 'unsure' = 'reconciled';
  /** Jobs that were found under our lock, with the newest registration then. Its message, or an older one, comes too late for them. */
  private readonly reclaimed = new Map<string, number>();

  constructor(
    private readonly context: WorkerQueueContext,
    private readonly mode: ReconcileMode,
    private readonly prefetcher: JobPrefetcher,
    private readonly wakeup: WorkerWakeup,
  ) {}

  invalidate(): void {
    this.state = 'unsure';
  }

  async reconcile(): Promise<void> {
    if (this.state === 'reconciled') return;
    this.state = 'reconciled';
    try {
      if (this.mode.kind === 'reclaim') await this.reclaimOwnedJobs(this.mode);
      else await this.requeuePrefetched();
    } catch (error) {
      this.state = 'unsure';
      throw error;
    }
  }

  /** Whether a job of the message for this registration was reclaimed before the message came. Answers true once. */
  wasReclaimed(id: string, registration: number): boolean {
    const upTo = this.reclaimed.get(id);
    this.reclaimed.delete(id);
    return upTo !== undefined && registration <= upTo;
  }

  /** The connection for messages was lost: messages that were on their way do not come any more. */
  forgetReclaimed(): void {
    this.reclaimed.clear();
  }

  /**
   * Requeues active jobs without a lock; the first worker that asks within an interval looks. BullMQ's own needs two looks,
   * and fails the job for its stalling. Here the log decides whether its call may run.
   */
  async requeueStalled(): Promise<string[]> {
    const { context } = this;
    const requeued = await requeueStalledScript.run(
      context.redis,
      [...keysOf(context, 'wait', 'active', 'stalled', 'marker'), context.toKey('stalled-check')],
      [context.toKey(''), String(Math.floor(lockOptions(context.lockMs).stalledInterval * 0.8))],
    );
    return Array.isArray(requeued) ? requeued.map(String) : [];
  }

  private async reclaimOwnedJobs({ idleKey, registration }: ReconcileMode & { kind: 'reclaim' }): Promise<void> {
    const { redis, toKey, keys, lockToken } = this.context;
    // First no more jobs are dispatched to this worker, then those that were are looked up.
    await redis.hdel(idleKey, lockToken);
    const ids = await redis.lrange(keys['active'] ?? '', 0, -1);
    const unknown = ids.filter((id) => !this.prefetcher.holds(id));
    const locks = await Promise.all(unknown.map((id) => redis.get(`${toKey(id)}:lock`)));
    const owned = unknown.filter((_id, index) => locks[index] === lockToken);
    const found = await Promise.all(owned.map((id) => redis.hmget(toKey(id), 'data', 'timestamp')));
    for (const [index, id] of owned.entries()) {
      const [data, timestamp] = found[index] ?? [];
      // Its message may have come meanwhile.
      if (typeof data !== 'string' || this.prefetcher.holds(id)) continue;
      this.reclaimed.set(id, registration.newestNumber);
      this.prefetcher.prefetch([nextJob(id, data, Number(timestamp), undefined)]);
      this.prefetcher.keepResults([[id, { kind: 'lost' }]]);
    }
    registration.revoked();
    this.wakeup.triggerPoll();
  }

  private async requeuePrefetched(): Promise<void> {
    const { context } = this;
    this.prefetcher.takeAll();
    await requeueOwnedScript.run(context.redis, keysOf(context, 'wait', 'active', 'prioritized', 'stalled', 'marker'), [
      context.toKey(''),
      context.lockToken,
      ...this.prefetcher.activeIds,
    ]);
    this.wakeup.observed('unknown');
  }
}
