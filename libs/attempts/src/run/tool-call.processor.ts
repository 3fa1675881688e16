import type { CallJob, Pool } from '#contracts';
import type { CallStore } from '#event-log';
import type { CallConsumer, CallQueue, DequeueHookResult, StartConsumer } from '#queue';
import type { AttemptDependencies } from './attempt-dependencies.js';
import { AttemptFollowUp } from './attempt-follow-up.js';
import { executeAttempt } from './execute-attempt.js';

/** Number of concurrent calls of a pool. */
export interface PoolSlots {
  readonly pool: Pool;
  readonly slots: number;
}

/**
 * Runs an attempt for each job of the pools of this worker. A job contains only the id and attempt of a call. After the handler
 * resolves, the queue deletes the job: all results are in the log.
 */
export class ToolCallProcessor {
  private consumers: { readonly pool: Pool; readonly slots: number; readonly consumer: CallConsumer }[] = [];
  private readonly undelivered: { readonly pool: Pool; readonly job: CallJob }[] = [];
  private readonly followUp: AttemptFollowUp;
  private stopping = false;

  constructor(
    private readonly pools: readonly PoolSlots[],
    private readonly startConsumer: StartConsumer,
    queue: Pick<CallQueue, 'dispatch'>,
    store: Pick<CallStore, 'snapshot'>,
    private readonly deps: AttemptDependencies,
  ) {
    this.followUp = new AttemptFollowUp(queue, store, deps.logger);
  }

  start(): void {
    this.consumers = this.pools.map(({ pool, slots }) => ({
      pool,
      slots,
      consumer: this.startConsumer(pool, slots, (job, dequeueClaim) => this.process(pool, job, dequeueClaim)),
    }));
  }

  slots(): { pool: Pool; slots: number; running: number }[] {
    return this.consumers.map(({ pool, slots, consumer }) => ({ pool, slots, running: consumer.running }));
  }

  /** Stops dequeuing. Resolves when the handlers have resolved and undelivered jobs are dispatched again. Idempotent. */
  async close(): Promise<void> {
    this.stopping = true;
    this.followUp.close();
    await Promise.all(this.consumers.map(({ consumer }) => consumer.close()));
    await Promise.allSettled(this.undelivered.splice(0).map(({ pool, job }) => this.followUp.dispatchAsAccepted(pool, job)));
  }

  /** Runs a job; requeues a job without claim that was dequeued after the drain began. */
  private async process(pool: Pool, job: CallJob, dequeueClaim?: DequeueHookResult): Promise<void> {
    if (this.stopping && dequeueClaim === undefined) this.undelivered.push({ pool, job });
    else await this.runUntilEndSent(pool, job, dequeueClaim);
  }

  /**
   * Runs the attempt. Resolves when its End was sent, before Redis acknowledges it: the completion of the job then goes out in
   * the same write, and the slot is free one round trip earlier (throughput in `npm run bench`). The attempt itself continues
   * until the acknowledgement, which is safe: `InFlightAttempts` still counts it, a drain waits for it, and a lost End is
   * repeated. An attempt without an early End resolves at its end.
   */
  private runUntilEndSent(pool: Pool, job: CallJob, dequeueClaim: DequeueHookResult | undefined): Promise<void> {
    return new Promise<void>((resolve) => {
      void executeAttempt(job, pool, this.deps, { dequeueClaim, onEndSent: resolve }).then((outcome) => {
        this.followUp.after(pool, job, outcome);
        resolve();
      });
    });
  }
}
