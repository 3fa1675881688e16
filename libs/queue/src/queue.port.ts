import type { CallJob, Pool, Priority, ToolEffect } from '#contracts';
import type { RedisConnection } from '#redis';
import type { DequeueHookResult } from './dequeue-hook.js';

export interface QueueDepth {
  readonly waiting: number;
  readonly active: number;
  readonly oldestWaitingMs: number;
}

export interface QueueStats<P extends string = Pool> extends QueueDepth {
  readonly pool: P;
}

/** The place of a job: waiting jobs that are taken before it, all waiting jobs, running jobs. */
export interface QueuePosition {
  readonly ahead: number;
  readonly waiting: number;
  readonly active: number;
}

/**
 * Dispatch by id. A queue has the name of a pool, or another word that `keys.queueName` takes. A higher priority is taken
 * first, but lower ones age and are taken at last; within a priority tenants take turns, and one tenant's jobs keep
 * their order. Adding the same attempt of a call again while its job exists is a no-op, so re-adding is always safe.
 */
export interface CallQueue {
  /**
   * Jobs without a tenant share one tenant. A job whose effect is known and not `once` may start at once on an idle
   * worker (direct dispatch); if that worker hangs, the lease of the call ends it.
   */
  dispatch(pool: string, job: CallJob, priority: Priority, tenantId?: string, effect?: ToolEffect): Promise<void>;
  /** Removes the waiting job of a call that has ended. Leaves a job that a worker has; does nothing for one that is gone. */
  removeJob(pool: string, job: CallJob): Promise<void>;
  /** Undefined when the job does not wait: it runs, or is gone. */
  position(pool: string, job: CallJob): Promise<QueuePosition | undefined>;
  /** Read again unless an answer came at most `maxAgeMs` ago; by default none is old enough. */
  stats<P extends string>(pool: P, maxAgeMs?: number): Promise<QueueStats<P>>;
  /** Only the number of waiting jobs: cheap enough to ask for each call. */
  waitingCount(pool: string): Promise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface CallConsumer {
  /** Slots of this process for the pool; may change at run time. */
  setConcurrency(slots: number): void;
  readonly running: number;
  /** That it opened itself, for readiness. */
  readonly connections: readonly RedisConnection[];
  /** Takes no more jobs; resolves when the running handlers have returned. Idempotent. */
  close(): Promise<void>;
}

/**
 * Consumes one pool's queue. The handler must not throw: whatever it does about the call is in the log, and the job
 * is gone when it returns.
 */
export type StartConsumer = (pool: string, concurrency: number, handler: CallHandler) => CallConsumer;

/** `taken`: the result of the dequeue hook, where there is one. */
export type CallHandler = (job: CallJob, taken?: DequeueHookResult) => Promise<void>;
