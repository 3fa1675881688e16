import { lockOptions } from './bull-settings.js';
import { nextJob } from './dequeued-jobs.js';
import type { IdleRegistration } from './idle-registration.js';
import type { JobPrefetcher } from './job-prefetcher.js';
import { keysOf, type WorkerQueueContext } from './queue-context.js';
import { requeueOwnedScript, requeueStalledScript } from './queue-scripts.js';
import type { WorkerWakeup } from './worker-wakeup.js';

/**
 * Treatment of jobs under this worker's lock that it does not hold, because an answer was lost with its connection:
 * - `requeue`: they have not begun, so they go back to the front of the queue, like prefetched jobs.
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
  /** `unsure`: jobs under our lock may be unknown to this worker, or will not run here. */
  private state: 'reconciled' | 'unsure' = 'reconciled';
  /** Jobs found under our lock, with the newest registration at that time. Messages of this or an older one come too late for them. */
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

  /** True, once, if a job of the message for this registration was reclaimed before the message came. */
  wasReclaimed(id: string, registration: number): boolean {
    const upTo = this.reclaimed.get(id);
    this.reclaimed.delete(id);
    return upTo !== undefined && registration <= upTo;
  }

  /** Drops the records: the connection for messages was lost, with all messages under way. */
  forgetReclaimed(): void {
    this.reclaimed.clear();
  }

  /**
   * Requeues active jobs without a lock; one worker checks per interval. BullMQ's own script needs two checks, and fails a
   * stalled job. Here the log decides whether its call may run.
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
    // Ends direct dispatch to this worker before the look-up of its jobs.
    await redis.hdel(idleKey, lockToken);
    const ids = await redis.lrange(keys['active'] ?? '', 0, -1);
    const unknown = ids.filter((id) => !this.prefetcher.holds(id));
    const locks = await Promise.all(unknown.map((id) => redis.get(`${toKey(id)}:lock`)));
    const owned = unknown.filter((_id, index) => locks[index] === lockToken);
    const found = await Promise.all(owned.map((id) => redis.hmget(toKey(id), 'data', 'timestamp')));
    for (const [index, id] of owned.entries()) {
      const [data, timestamp] = found[index] ?? [];
      // The message of the job may have come meanwhile.
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
