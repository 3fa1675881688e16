import type { CallJob, Pool, Priority, ToolEffect } from '#contracts';
import type { DequeueHookResult } from './dequeue-hook.js';

export interface QueueDepth {
  readonly waiting: number;
  readonly active: number;
  readonly oldestWaitingMs: number;
}

export interface QueueStats<P extends string = Pool> extends QueueDepth {
  readonly pool: P;
}

/** Position of a job: waiting jobs ahead of it, all waiting jobs, running jobs. */
export interface QueuePosition {
  readonly ahead: number;
  readonly waiting: number;
  readonly active: number;
}

/**
 * Dispatch by id. A queue has the name of a pool, or another word that `keys.queueName` accepts. A higher priority runs first,
 * but lower ones age and never starve; within a priority tenants take turns, and one tenant's jobs keep their order. Adding the
 * same attempt of a call again while its job exists is a no-op, so re-adding is always safe.
 */
export interface CallQueue {
  /**
   * Adds a job. Jobs without a tenant share one tenant. A job with a known effect other than `once` may start at once on an
   * idle worker (direct dispatch); if that worker hangs, the lease of the call ends it.
   */
  dispatch(pool: string, job: CallJob, priority: Priority, tenantId?: string, effect?: ToolEffect): Promise<void>;
  /** Removes the waiting job of a call that has ended. No effect on a job that runs or no longer exists. */
  removeJob(pool: string, job: CallJob): Promise<void>;
  /** Undefined if the job does not wait: it runs, or no longer exists. */
  position(pool: string, job: CallJob): Promise<QueuePosition | undefined>;
  /** Reads the figures, or returns an answer that is at most `maxAgeMs` old. Default: always reads. */
  stats<P extends string>(pool: P, maxAgeMs?: number): Promise<QueueStats<P>>;
  /** Number of waiting jobs: cheap enough for each call. */
  waitingCount(pool: string): Promise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface CallConsumer {
  /** Slots of this process for the pool; may change at run time. */
  setConcurrency(slots: number): void;
  readonly running: number;
  /** Stops dequeuing; resolves when the running handlers have returned. Idempotent. */
  close(): Promise<void>;
}

/** Consumes one pool's queue. The handler must not throw: its results are in the log, and the job is deleted on return. */
export type StartConsumer = (pool: string, concurrency: number, handler: CallHandler) => CallConsumer;

/** `claimResult`: result of the dequeue hook, if there is one. */
export type CallHandler = (job: CallJob, claimResult?: DequeueHookResult) => Promise<void>;
