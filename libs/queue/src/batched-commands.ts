import type { LuaScript } from '#redis';
import { parseClaims, parseFetched, type NextJob } from './dequeued-jobs.js';
import type { DirectDispatch } from './direct-dispatch.js';
import type { IdleRegistration } from './idle-registration.js';
import type { JobPrefetcher } from './job-prefetcher.js';
import type { LockReconciler } from './lock-reconciler.js';
import { MicroBatcher } from './micro-batcher.js';
import { dequeueKeys, type WorkerQueueContext } from './queue-context.js';
import { completeAndDequeueScript } from './queue-scripts.js';
import type { WorkerWakeup } from './worker-wakeup.js';

const MAX_BATCH = 500;

/** `poll` fetches one job for a loop; `complete` may fetch the next; `resync` only causes a run. */
type QueueOp =
  | { readonly kind: 'poll' }
  | { readonly kind: 'complete'; readonly id: string; readonly next: boolean }
  | { readonly kind: 'resync' };

/** Way to dequeue: plain, or with the dequeue hook in the same script. */
export type DequeueMode =
  | { readonly kind: 'plain' }
  | {
      readonly kind: 'claim';
      readonly script: LuaScript;
      readonly hookArgs: readonly string[];
      readonly idleKey: string;
      readonly registration: IdleRegistration;
      readonly directDispatch: DirectDispatch;
    };

/**
 * Completes N jobs and fetches M in one script.
 *
 * Invariants: one script at a time, and an operation never joins a script that was sent, which may have read the queue before a
 * job came. A run reconciles first, see LockReconciler.
 */
export class BatchedCommands {
  private readonly batcher = new MicroBatcher<QueueOp, NextJob>((ops) => this.run(ops), MAX_BATCH, 'microtask');

  constructor(
    private readonly context: WorkerQueueContext,
    private readonly mode: DequeueMode,
    private readonly prefetcher: JobPrefetcher,
    private readonly reconciler: LockReconciler,
    private readonly wakeup: WorkerWakeup,
  ) {}

  /** Fetches the next job for a loop; empty if none waits. */
  poll(): Promise<NextJob> {
    return this.batcher.add({ kind: 'poll' });
  }

  /** Completes a job. With `next` it resolves with another one, if any. */
  complete(id: string, next: boolean): Promise<NextJob> {
    return this.batcher.add({ kind: 'complete', id, next });
  }

  /** Restores jobs and wake-ups whose answers may have been lost; called after a reconnect. */
  async resync(): Promise<void> {
    this.reconciler.invalidate();
    await this.batcher.add({ kind: 'resync' });
  }

  private async run(ops: readonly QueueOp[]): Promise<NextJob[]> {
    const { prefetcher } = this;
    await this.reconciler.reconcile();
    const completed = ops.flatMap((op) => (op.kind === 'complete' ? [op.id] : []));
    const polls = ops.filter((op) => op.kind === 'poll').length;
    const mayFetch = !prefetcher.isStopping && !this.awaitsMessage;
    const loops = mayFetch ? ops.filter((op) => wantsJob(op)).length : 0;
    if (completed.length === 0 && loops === 0) return ops.map(() => []);

    const demand = prefetcher.demand(loops, polls > 0 && mayFetch);
    const fetched = await this.completeAndDequeue(completed, Math.min(demand, MAX_BATCH));
    const jobs = [...prefetcher.takeAll(), ...fetched];
    prefetcher.completed(completed);
    // Serves polls first: a polling loop starts its job sooner than a loop that completes one.
    const forPolls = jobs.splice(0, polls);
    const answers = ops.map((op) => prefetcher.activate(wantsJob(op) ? ((op.kind === 'poll' ? forPolls : jobs).shift() ?? []) : []));
    prefetcher.prefetch(jobs);
    return answers;
  }

  private get awaitsMessage(): boolean {
    return this.mode.kind === 'claim' && this.mode.registration.pendingMatch !== undefined;
  }

  private async completeAndDequeue(completed: readonly string[], wanted: number): Promise<NextJob[]> {
    const { context, mode, prefetcher } = this;
    const args = [context.toKey(''), context.lockToken, String(context.lockMs), String(wanted), ...completed];
    if (mode.kind === 'plain') return this.fetched(await completeAndDequeueScript.run(context.redis, dequeueKeys(context), args));

    const { registration, script, hookArgs, idleKey, directDispatch } = mode;
    const registers = wanted > 0 && directDispatch.isSubscribed && !prefetcher.isStopping;
    const next = registration.next(registers ? Math.min(MAX_BATCH, prefetcher.freeSlots(completed.length)) : 0);
    const keys = [...dequeueKeys(context), idleKey];
    const answer = await script.run(context.redis, keys, [...next.args, String(hookArgs.length), ...hookArgs, ...args]);
    if (!Array.isArray(answer)) throw new Error(`dequeue-or-register.lua answered ${typeof answer}, expected a list.`);
    const jobs = this.fetched(answer[0]);
    if (registration.answered(next.number, answer[1])) void directDispatch.awaitMessage(() => this.resync());
    prefetcher.keepResults(parseClaims(jobs, answer[2]));
    return jobs;
  }

  private fetched(answer: unknown): NextJob[] {
    const [empty, jobs] = parseFetched(answer);
    this.wakeup.observed(empty ? 'empty' : 'unknown');
    return jobs;
  }
}

function wantsJob(op: QueueOp): boolean {
  return op.kind === 'poll' || (op.kind === 'complete' && op.next);
}
