import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { EndData } from '#contracts';
import {
  argumentRefs,
  BlobStore,
  isApplied,
  type Applied,
  type EventOrigin,
  type CallSnapshot,
  type CallState,
  type CallStore,
  type DueCalls,
  type EventLogWriter,
  type LogGrowth,
  type Rejection,
} from '#event-log';
import type { CallQueue } from '#queue';
import { partitionGroups, partitionNames, type RedisConnection } from '#redis';
import { type Tracing, telemetry } from '#observability';
import { callError, errorResult } from '../commit/commit-attempt.js';
import { RedispatchBackoff } from './redispatch-backoff.js';
import type { SweeperLock } from './sweeper-lock.js';
import { decideRecovery, type RecoveryAction } from './decide-recovery.js';

const SWEEP_MS = 500;
/** Longest rest between two sweeps while the log does not grow and no timer is due. */
const MOST_REST_MS = 15_000;
const DUE_PER_PARTITION = 100;
/** Time until a call that keeps failing is logged again. */
const WARN_AGAIN_MS = 600_000;
/** Most recorded failing calls: more than one sweep reads, so that sweeps do not evict each other's. */
const MAX_FAILING = 10_000;
/** Most additional calls of each partition in a sweep while some fail. */
const MOST_MORE = 100;
const LOST_QUEUE_CHECK_MS = 2_000;
const REDISPATCH_BATCH = 500;
/** Time after a reconnect for workers to renew leases and write the ends of finished calls. */
const RECONNECT_GRACE_MS = 2_000;

/** The part of pino's logger that recovery uses. */
export interface RecoveryLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface ReconcilerDeps {
  readonly workerId: string;
  readonly partitions: number;
  readonly redis: RedisConnection;
  readonly log: Pick<EventLogWriter, 'end' | 'retry' | 'deferDispatch'>;
  readonly store: Pick<CallStore, 'now' | 'listDue' | 'snapshot' | 'events'>;
  readonly queue: Pick<CallQueue, 'dispatch' | 'removeJob' | 'stats'>;
  readonly lock: Pick<SweeperLock, 'tryAcquire' | 'release' | 'ttlMs'>;
  /** Ends the rest between two sweeps; closed with the reconciler. */
  readonly growth: Pick<LogGrowth, 'mark' | 'grown' | 'close'>;
  readonly logger: RecoveryLog;
  /** Called after each sweep, with its error if it failed. A failed sweep is repeated after half a second. */
  readonly onSweep: (error?: Error) => void;
  readonly tracing?: Tracing | undefined;
}

/**
 * Recovers calls whose timer is due; every open call has a timer in the log. Runs in every worker. Concurrent or late
 * reconcilers are safe: the log checks each action by the fence and the timer. Sweeps twice a second while the log grows. Every
 * earlier timer comes with an event, so that a sweep without a due call rests until the next timer or the next event.
 */
export class Reconciler {
  private readonly origin: EventOrigin;
  private readonly blobs: BlobStore;
  private readonly backoff = new RedispatchBackoff();
  /** Calls that could not be recovered and were logged. */
  private readonly failing = new LRUCache<string, true>({ max: MAX_FAILING, ttl: WARN_AGAIN_MS, noUpdateTTL: true });
  private readonly stopped = new AbortController();
  private sweeping: Promise<unknown> | undefined;
  private resumeAt = 0;
  private lostJobsCheckedAt = 0;
  private readonly onReady = () => (this.resumeAt = performance.now() + RECONNECT_GRACE_MS);

  constructor(private readonly deps: ReconcilerDeps) {
    this.blobs = new BlobStore(deps.redis);
    this.origin = { source: `/reconciler/${deps.workerId}`, actor: 'system:reconciler' };
  }

  start(): void {
    this.deps.redis.on('ready', this.onReady);
    void this.run();
  }

  /** Waits for a running sweep. Idempotent. */
  async close(): Promise<void> {
    if (this.stopped.signal.aborted) return;
    this.stopped.abort();
    this.deps.growth.close();
    this.deps.redis.off('ready', this.onReady);
    if (this.deps.redis.status !== 'ready') return;
    await this.sweeping;
    await this.deps.lock.release();
  }

  /**
   * Handles every due call, regardless of the sweeper lock. Returns the milliseconds until the next timer, 0 if a call was due.
   * Rejects while Redis is unreachable.
   */
  async sweep(): Promise<number> {
    const now = await this.deps.store.now();
    const rests = await Promise.all(this.groups().map((group) => this.sweepPartitions(group, now)));
    if (performance.now() - this.lostJobsCheckedAt >= LOST_QUEUE_CHECK_MS) await this.requeueLostJobs();
    return Math.min(...rests);
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      await sleep(SWEEP_MS, undefined, { signal }).catch(() => {});
      const restMs = await this.tick();
      await this.deps.growth.grown(Math.min(restMs, MOST_REST_MS), signal);
    }
  }

  /** Runs a sweep; returns the milliseconds until the next is due, unless the log grows. */
  private async tick(): Promise<number> {
    if (this.stopped.signal.aborted || this.deps.redis.status !== 'ready' || performance.now() < this.resumeAt) return 0;
    const sweeping = this.sweepOnce();
    this.sweeping = sweeping.catch(() => {});
    try {
      const restMs = await sweeping;
      this.deps.onSweep();
      return restMs;
    } catch (error) {
      this.deps.onSweep(error instanceof Error ? error : new Error(String(error)));
      return 0;
    }
  }

  /** Sweeps if this worker holds the lock. The others try again when it may have expired. */
  private async sweepOnce(): Promise<number> {
    // Before the sweep: an event that comes meanwhile ends the rest after it.
    await this.deps.growth.mark();
    if (await this.deps.lock.tryAcquire()) {
      const restMs = await this.sweep();
      return this.backoff.counts().size > 0 ? Math.min(restMs, LOST_QUEUE_CHECK_MS) : restMs;
    }
    return this.deps.lock.ttlMs;
  }

  private groups(): readonly (readonly string[])[] {
    return partitionGroups(this.deps.redis, partitionNames(this.deps.partitions));
  }

  private async sweepPartitions(partitions: readonly string[], now: number): Promise<number> {
    // Calls that fail in each sweep are first in each list: a larger limit lets later calls be recovered.
    const found = await this.deps.store.listDue(partitions, now, DUE_PER_PARTITION + Math.min(this.failing.size, MOST_MORE));
    await Promise.all(found.due.map(({ callId, score }) => this.tryRecover(callId, score, now)));
    return restOf(found, now);
  }

  /** Recovers one call. A failure does not stop the others. */
  private async tryRecover(callId: string, dueAt: number, now: number): Promise<void> {
    try {
      await this.recover(callId, dueAt, now);
      this.failing.delete(callId);
    } catch (error) {
      if (this.failing.has(callId)) return;
      this.failing.set(callId, true);
      this.deps.logger.warn({ callId, err: error }, 'a due call could not be recovered; each sweep tries again');
    }
  }

  private async recover(callId: string, dueAt: number, now: number): Promise<void> {
    const head = await this.deps.store.snapshot(callId);
    if (!head) return;
    const action = decideRecovery(head, dueAt, now);
    if (action.kind === 'dispatch') await this.dispatchAgain(head, action);
    else if (action.kind === 'end') await this.end(head, action, now);
    else if (action.kind === 'retry') await this.retry(head, action, now);
  }

  private async dispatchAgain(
    head: CallSnapshot,
    { pool, queue, attempt, priority }: RecoveryAction & { kind: 'dispatch' },
  ): Promise<void> {
    const job = { callId: head.callId, attempt };
    await this.deps.queue.dispatch(queue, job, priority, head.meta.tenantId);
    telemetry.dispatchRepeated.emit({ pool });
    await this.deps.log.deferDispatch({
      callId: head.callId,
      fence: head.fence,
      delayMs: this.backoff.defer(queue, job, priority, head.meta.tenantId),
    });
  }

  private async end(head: CallState, action: RecoveryAction & { kind: 'end' }, now: number): Promise<void> {
    const { outcome, failure, leaseExpired } = action;
    const stopped =
      action.stopped && head.cancelRequested ? { ...action.stopped, tookMs: await this.sinceCancel(head, now) } : action.stopped;
    const data: EndData = {
      outcome,
      error: callError(failure),
      isError: true,
      result: errorResult(failure.message),
      attempts: head.attempt,
      queueMs: Math.max(0, (head.attempt === 0 ? now : head.firstStartedAt) - head.submittedAt),
      ...(stopped ? { stopped } : {}),
    };
    const answer = await this.deps.log.end({
      callId: head.callId,
      guard: { by: 'reconciler', fence: head.fence },
      data,
      author: this.origin,
    });
    this.emitLeaseExpired(head, answer, leaseExpired);
    if (!isApplied(answer)) return;
    if (stopped && outcome === 'cancelled') telemetry.cancelled.emit({ tool: head.meta.tool, ...stopped });
    const { digest: argumentsDigest, edited: argumentsEdited } = head.options;
    void this.blobs.delete(head.callId, argumentRefs({ argumentsDigest, argumentsEdited }).secret).catch(() => {});
    if (head.status === 'queued')
      void this.deps.queue.removeJob(head.queue, { callId: head.callId, attempt: head.attempt + 1 }).catch(() => {});
    if (this.deps.tracing) traceReconciled(this.deps.tracing, head, action, now);
    this.deps.logger.info({ callId: head.callId, tool: head.meta.tool, outcome, code: failure.code }, 'call ended by the reconciler');
  }

  /** Milliseconds since the cancel request, which is the last lifecycle event of the call. */
  private async sinceCancel(head: CallSnapshot, now: number): Promise<number> {
    const [request] = await this.deps.store.events(head.callId, { afterSeq: (head.lifecycleSeqs.at(-1) ?? 0) - 1, limit: 1 });
    return request?.type === 'call.cancel_requested' ? Math.max(0, now - request.time) : 0;
  }

  private async retry(head: CallSnapshot, action: RecoveryAction & { kind: 'retry' }, now: number): Promise<void> {
    const { reason, failure } = action;
    const nextAttempt = head.attempt + 1;
    const data = { reason, nextAttempt, delayMs: 0, error: callError(failure) };
    const answer = await this.deps.log.retry({
      callId: head.callId,
      guard: { by: 'reconciler', fence: head.fence },
      data,
      countsAsFailure: true,
      author: this.origin,
    });
    this.emitLeaseExpired(head, answer, true);
    if (!isApplied(answer)) return;
    if (this.deps.tracing) traceReconciled(this.deps.tracing, head, action, now);
    this.deps.logger.info({ callId: head.callId, tool: head.meta.tool, nextAttempt }, 'the worker of a call was lost; the call is retried');
    await this.deps.queue.dispatch(head.queue, { callId: head.callId, attempt: nextAttempt }, head.priority, head.meta.tenantId);
  }

  private emitLeaseExpired(head: CallSnapshot, answer: Applied | Rejection, leaseExpired: boolean): void {
    if (isApplied(answer) && leaseExpired) telemetry.leaseExpired.emit({ tool: head.meta.tool });
  }

  /** Adds jobs again, a bounded number at a time, to queues with fewer jobs than waiting calls, which have lost some. */
  private async requeueLostJobs(): Promise<void> {
    this.lostJobsCheckedAt = performance.now();
    const counts = this.backoff.counts();
    for (const queue of counts.keys()) {
      const jobs = async () => {
        const { waiting, active } = await this.deps.queue.stats(queue);
        return waiting + active;
      };
      if (this.backoff.byQueue(queue).length <= (await jobs())) continue;
      await this.pruneStarted(queue);
      const waiting = this.backoff.byQueue(queue);
      if (waiting.length <= (await jobs())) continue;
      await Promise.all(
        waiting.slice(0, REDISPATCH_BATCH).map(({ job, priority, tenantId }) => this.deps.queue.dispatch(queue, job, priority, tenantId)),
      );
      this.deps.logger.warn({ queue, calls: waiting.length }, 'a queue lost jobs; they are added again');
    }
  }

  private async pruneStarted(queue: string): Promise<void> {
    await Promise.all(
      this.backoff.byQueue(queue).map(async ({ job }) => {
        const head = await this.deps.store.snapshot(job.callId);
        if (head?.status !== 'queued' || head.attempt + 1 !== job.attempt) this.backoff.forget(job.callId);
      }),
    );
  }
}

/**
 * Records the span of a call or attempt that ended without a worker. The span covers the wait of a call that never started, and
 * only the moment of recovery of a lost attempt.
 */
function traceReconciled(tracing: Tracing, head: CallSnapshot, { failure }: RecoveryAction & { kind: 'end' | 'retry' }, now: number): void {
  const { callId, status, pool, meta, attempt, submittedAt } = head;
  const never = attempt === 0;
  tracing
    .start({
      name: status === 'waiting_approval' ? 'approve' : never ? `queue ${pool}` : 'recover',
      parent: meta.traceparent,
      ...(never ? { startedAt: Date.now() - Math.max(0, now - submittedAt) } : {}),
      attributes: { 'gen_ai.tool.name': meta.tool, 'toolyard.call.id': callId, 'toolyard.pool': pool, 'toolyard.attempt': attempt },
    })
    .end({ failed: { type: failure.code } });
}

function restOf({ due, nextAt }: DueCalls, now: number): number {
  return due.length > 0 ? 0 : nextAt - now;
}
