import type { CallJob, Pool, Priority } from '#contracts';

export interface PoolDepth {
  readonly pool: Pool;
  readonly waiting: number;
  readonly active: number;
  readonly oldestWaitingMs: number;
}

/** Dispatch by id. Adding the same attempt of a call again while its job exists is a no-op, so re-adding is always safe. */
export interface CallQueue {
  dispatch(pool: Pool, job: CallJob, priority: Priority): Promise<void>;
  depth(pool: Pool): Promise<PoolDepth>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface CallConsumer {
  /** Slots of this process for the pool; may change at run time. */
  setConcurrency(slots: number): void;
  readonly running: number;
  /** Takes no more jobs; resolves when the running handlers have returned. Idempotent. */
  close(): Promise<void>;
}

/**
 * Consumes one pool's queue. The handler must not throw: whatever it does about the call stands in the log, and the job
 * is gone when it returns.
 */
export type StartConsumer = (pool: Pool, concurrency: number, handler: (job: CallJob) => Promise<void>) => CallConsumer;
