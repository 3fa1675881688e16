import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisQueueBackend, type JobJson, type MinimalJob } from 'bullmq';
import type { RedisConnection } from '#redis';
import { BatchedCommands, type DequeueMode } from './batched-commands.js';
import type { DequeueHook, DequeueHookResult } from './dequeue-hook.js';
import type { NextJob } from './dequeued-jobs.js';
import { DirectDispatch } from './direct-dispatch.js';
import { IdleRegistration } from './idle-registration.js';
import { JobPrefetcher } from './job-prefetcher.js';
import { LockReconciler, type ReconcileMode } from './lock-reconciler.js';
import { dequeueOrRegisterScript, idleKeyOf } from './queue-scripts.js';
import { WorkerWakeup } from './worker-wakeup.js';

/** Wait of a stopping worker for the list of jobs under its lock. The leases of their calls cover the others. */
const LAST_JOBS_MS = 2_000;

export interface BatchingWorkerOptions {
  readonly redis: RedisConnection;
  /** Equal to the Worker's concurrency. */
  readonly slots: number;
  /** Equal to the Worker's lock duration. */
  readonly lockMs: number;
  /** Hook for dequeued jobs, which starts them. Not on a cluster. */
  readonly claiming?:
    | { readonly hook: DequeueHook; readonly subscriber: RedisConnection; readonly report: (error: Error) => void }
    | undefined;
}

/**
 * BullMQ's backend for a Worker, with the hot path made of batches. All other operations and the keys are BullMQ's own, so both
 * backends may work on one queue at the same time.
 *
 * BullMQ's invariants hold: a job is in exactly one of wait, prioritized, active; an active job has a lock, renewed by the
 * Worker; the hash of a job exists until the job is done; whenever jobs may run, the marker is set or a worker is about to
 * poll. Calls do not use delayed jobs, rate limits, flows, deduplication, schedulers, metrics, kept jobs and the event
 * stream, so these are left out.
 *
 * The parts, each with its state and invariants: BatchedCommands, JobPrefetcher, DirectDispatch (with IdleRegistration),
 * LockReconciler, WorkerWakeup.
 */
export class BatchingWorkerBackend extends RedisQueueBackend {
  private readonly lockToken = randomUUID();
  private readonly prefetcher: JobPrefetcher;
  private readonly wakeup: WorkerWakeup;
  private readonly reconciler: LockReconciler;
  private readonly commands: BatchedCommands;
  private readonly registration: IdleRegistration;
  private readonly directDispatch: DirectDispatch | undefined;

  constructor({ redis, slots, lockMs, claiming }: BatchingWorkerOptions, ...base: ConstructorParameters<typeof RedisQueueBackend>) {
    super(...base);
    const context = { redis, keys: this.keys, toKey: (type: string) => this.toKey(type), lockToken: this.lockToken, lockMs };
    const [prefetcher, registration] = [new JobPrefetcher(slots), new IdleRegistration()];
    const wakeup = new WorkerWakeup(
      (blockTimeout) => super.waitForJob(blockTimeout),
      ({ member }) => redis.zadd(this.keys['marker'] ?? '', 0, member),
    );
    const idleKey = claiming && this.toKey(idleKeyOf(claiming.hook.lua));
    const reconcileMode: ReconcileMode = idleKey === undefined ? { kind: 'requeue' } : { kind: 'reclaim', idleKey, registration };
    const reconciler = new LockReconciler(context, reconcileMode, prefetcher, wakeup);
    this.directDispatch =
      claiming &&
      new DirectDispatch({ ...claiming, channel: this.toKey(`hand:${this.lockToken}`), registration, prefetcher, reconciler, wakeup });
    const mode: DequeueMode =
      claiming === undefined || idleKey === undefined || this.directDispatch === undefined
        ? { kind: 'plain' }
        : {
            kind: 'claim',
            script: dequeueOrRegisterScript(claiming.hook.lua),
            hookArgs: claiming.hook.args,
            idleKey,
            registration,
            directDispatch: this.directDispatch,
          };
    this.commands = new BatchedCommands(context, mode, prefetcher, reconciler, wakeup);
    this.prefetcher = prefetcher;
    this.registration = registration;
    this.wakeup = wakeup;
    this.reconciler = reconciler;
  }

  /** Sets the slots, which must equal the Worker's concurrency. */
  async setSlots(slots: number): Promise<void> {
    this.prefetcher.setSlots(slots);
    // A registration may name more slots than there are now.
    await this.resync();
  }

  /** Restores jobs and wake-ups whose answers may have been lost; called after a reconnect. */
  resync(): Promise<void> {
    return this.commands.resync();
  }

  /** Returns and removes the result of the dequeue hook for a job of a loop. */
  takeClaimResult(id: string): DequeueHookResult | undefined {
    return this.prefetcher.takeResult(id);
  }

  /** Stops prefetching. Prefetched jobs go back to the queue; those that have begun are returned. */
  async stopPrefetching(): Promise<readonly JobJson[]> {
    this.prefetcher.stop();
    this.wakeup.stop();
    if (this.directDispatch === undefined) {
      await this.resync();
      return [];
    }
    await Promise.race([this.resync().catch(() => {}), sleep(LAST_JOBS_MS, undefined, { ref: false })]);
    this.directDispatch.close();
    return this.prefetcher.takeAll().flatMap(([job]) => job ?? []);
  }

  /** Completes a job that no loop of the Worker runs. */
  async complete(id: string): Promise<void> {
    await this.commands.complete(id, false);
  }

  override async moveToActive(): Promise<NextJob> {
    // Jobs of a pending message may fill all slots.
    await this.registration.pendingMatch;
    const ready = this.prefetcher.next();
    if (ready) return ready;
    return this.wakeup.isQueueEmpty ? [] : this.commands.poll();
  }

  override async moveToCompleted(
    job: MinimalJob,
    _value: unknown,
    _keep: unknown,
    _token: string,
    fetchNext: boolean,
  ): Promise<{ result: NextJob; finishedOn: number }> {
    const result = await this.commands.complete(job.id ?? '', fetchNext && !this.prefetcher.isStopping);
    return { result, finishedOn: Date.now() };
  }

  /** Ends jobs with a deferred failure by BullMQ's own script, which may return a next job that is active then. */
  override async moveToFailed(
    job: MinimalJob,
    reason: string,
    keep: Parameters<RedisQueueBackend['moveToFailed']>[2],
    _token: string,
    fetchNext: boolean,
    fields?: Record<string, unknown>,
  ) {
    const moved = await super.moveToFailed(job, reason, keep, this.lockToken, fetchNext, fields);
    this.prefetcher.completed([job.id ?? '']);
    if (moved.result) this.prefetcher.activate([moved.result[0], moved.result[1], 0, 0]);
    return moved;
  }

  override async extendLocks(jobIds: string[], _tokens: string[], duration: number): Promise<string[]> {
    return super.extendLocks(
      jobIds,
      jobIds.map(() => this.lockToken),
      duration,
    );
  }

  override moveStalledJobsToWait(): Promise<string[]> {
    return this.reconciler.requeueStalled();
  }

  /** Waits for the marker or a directly dispatched job. In the second case the read of the marker continues for the next wait. */
  override waitForJob(blockTimeout: number) {
    return this.wakeup.wait(blockTimeout, this.prefetcher.hasPrefetched);
  }
}
