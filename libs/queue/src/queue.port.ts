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

/** Where a job stands: how many waiting ones will be taken before it as things are, how many wait, how many run. */
export interface QueuePosition {
  readonly ahead: number;
  readonly waiting: number;
  readonly active: number;
}

/**
 * Dispatch by id. A queue has the name of a pool, or another word that `keys.queueName` takes. A higher priority is taken
 * first, yet no waiting class is passed over for ever; within a priority tenants take turns, and one tenant's jobs keep
 * their order. Adding the same attempt of a call again while its job exists is a no-op, so re-adding is always safe.
 */
export interface CallQueue {
  /**
   * Jobs without a tenant count as of one tenant of their own. One whose effect is known and not `once` may begin at once
   * on a worker that is idle, which is found out to hang only by the lease of the call.
   */
  dispatch(pool: string, job: CallJob, priority: Priority, tenantId?: string, effect?: ToolEffect): Promise<void>;
  /** Takes out a job that waits, of a call that has ended meanwhile. One that a worker has, or that is gone, is left alone. */
  removeJob(pool: string, job: CallJob): Promise<void>;
  /** Undefined when the job does not wait: it runs, or is gone. */
  position(pool: string, job: CallJob): Promise<QueuePosition | undefined>;
  /** Read again unless an answer came at most `maxAgeMs` ago; by default none is old enough. */
  stats<P extends string>(pool: P, maxAgeMs?: number): Promise<QueueStats<P>>;
  /** Only how many wait, for those who ask for each call. */
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
 * Consumes one pool's queue. The handler must not throw: whatever it does about the call stands in the log, and the job
 * is gone when it returns.
 */
export type StartConsumer = (pool: string, concurrency: number, handler: CallHandler) => CallConsumer;

/** `taken` is there where a script runs when jobs are taken. */
export type CallHandler = (job: CallJob, taken?: DequeueHookResult) => Promise<void>;
