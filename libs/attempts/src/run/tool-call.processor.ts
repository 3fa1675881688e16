import type { CallJob, Pool } from '#contracts';
import { isApplied, type CallStore } from '#event-log';
import type { CallConsumer, CallQueue, DequeueHookResult, StartConsumer } from '#queue';
import type { RedisConnection } from '#redis';
import type { AttemptLog } from './attempt-log.js';
import type { AttemptDependencies } from './attempt-dependencies.js';
import { type AttemptOutcome, executeAttempt } from './execute-attempt.js';

/** Longer delays are left to the reconciler, which checks due calls twice a second. */
const LONGEST_LOCAL_DELAY_MS = 60_000;

/** How many calls of a pool run at once. */
export interface PoolSlots {
  readonly pool: Pool;
  readonly slots: number;
}

/**
 * Runs an attempt for each job of the pools of this worker. A job holds only the id and attempt of a call. When the
 * handler resolves, the queue deletes the job: what happened is in the log.
 */
export class ToolCallProcessor {
  private consumers: { readonly pool: Pool; readonly slots: number; readonly consumer: CallConsumer }[] = [];
  private readonly undelivered: { readonly pool: Pool; readonly job: CallJob }[] = [];
  private readonly delayedDispatches = new Set<NodeJS.Timeout>();
  private stopping = false;

  constructor(
    private readonly pools: readonly PoolSlots[],
    private readonly startConsumer: StartConsumer,
    private readonly queue: Pick<CallQueue, 'dispatch'>,
    private readonly store: Pick<CallStore, 'snapshot'>,
    private readonly deps: AttemptDependencies,
  ) {}

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

  /** The connections of the consumers, for readiness. */
  get connections(): readonly RedisConnection[] {
    return this.consumers.flatMap(({ consumer }) => consumer.connections);
  }

  /**
   * Takes no more jobs. Resolves when the handlers have resolved and undelivered jobs are dispatched again. Idempotent.
   */
  async close(): Promise<void> {
    this.stopping = true;
    for (const timer of this.delayedDispatches) clearTimeout(timer);
    this.delayedDispatches.clear();
    await Promise.all(this.consumers.map(({ consumer }) => consumer.close()));
    await Promise.allSettled(this.undelivered.splice(0).map(({ pool, job }) => this.dispatchAsAccepted(pool, job)));
  }

  /** Jobs that were dequeued after the drain began, and not claimed, go back to the queue. */
  private async process(pool: Pool, job: CallJob, dequeueClaim?: DequeueHookResult): Promise<void> {
    if (this.stopping && dequeueClaim === undefined) this.undelivered.push({ pool, job });
    else await this.runUntilEndSent(pool, job, dequeueClaim);
  }

  /**
   * Runs the attempt. Resolves when its End was sent, before Redis acknowledges it: the completion of the job then goes
   * out in the same write, and the slot takes the next job one round trip earlier (throughput in `npm run bench`). The
   * attempt itself lives on until the acknowledgement, which is safe: `InFlightAttempts` still counts it, a drain waits
   * for it, and an End that Redis did not get is repeated. An attempt without an early End resolves when it is over.
   */
  private runUntilEndSent(pool: Pool, job: CallJob, dequeueClaim: DequeueHookResult | undefined): Promise<void> {
    return new Promise<void>((resolve) => {
      void executeAttempt(job, pool, this.deps, { dequeueClaim, onEndSent: resolve }).then((outcome) => {
        this.afterAttempt(pool, job, outcome);
        resolve();
      });
    });
  }

  private afterAttempt(pool: Pool, job: CallJob, outcome: AttemptOutcome): void {
    if (outcome.kind === 'not_claimed') {
      if (outcome.retryInMs !== undefined) this.scheduleDispatch(outcome.retryInMs, () => this.dispatchAsAccepted(pool, job));
      return;
    }
    const { claimed, committed } = outcome;
    if (committed.kind === 'retried' && isApplied(committed.answer)) {
      const { submitted, meta } = claimed;
      const next = { callId: job.callId, attempt: committed.nextAttempt };
      this.scheduleDispatch(committed.delayMs, () => this.queue.dispatch(pool, next, submitted.priority, meta.tenantId));
    }
    logAttempt(this.deps.logger, job, outcome);
  }

  /** Dispatches with the priority and tenant of the call, which a job does not hold. */
  private async dispatchAsAccepted(pool: Pool, job: CallJob): Promise<void> {
    const head = await this.store.snapshot(job.callId);
    if (head?.status === 'queued') await this.queue.dispatch(pool, job, head.priority, head.meta.tenantId);
  }

  /** Dispatches on time what the reconciler would dispatch a little later, and does when this process dies. */
  private scheduleDispatch(delayMs: number, dispatch: () => Promise<void>): void {
    const now = () => void dispatch().catch(() => {});
    if (delayMs === 0) return now();
    if (this.stopping || delayMs > LONGEST_LOCAL_DELAY_MS) return;
    const timer = setTimeout(() => {
      this.delayedDispatches.delete(timer);
      now();
    }, delayMs);
    timer.unref();
    this.delayedDispatches.add(timer);
  }
}

/** One line in the service log for each attempt. */
function logAttempt(logger: AttemptLog, job: CallJob, { claimed, committed }: AttemptOutcome & { kind: 'executed' }): void {
  const applied = committed.kind !== 'nothing' && isApplied(committed.answer);
  if (!logger.isLevelEnabled(applied ? 'info' : 'warn')) return;
  const facts = { callId: job.callId, tool: claimed.meta.tool, attempt: claimed.attempt };
  if (committed.kind === 'nothing') logger.warn(facts, 'lost the claim on a call');
  else if (!isApplied(committed.answer))
    logger.warn({ ...facts, code: committed.answer.code }, 'the log refused the last event of an attempt');
  else if (committed.kind === 'retried') logger.info({ ...facts, delayMs: committed.delayMs }, 'attempt is requeued');
  else
    logger.info({ ...facts, outcome: committed.data.outcome, code: committed.data.error?.code, runMs: committed.data.runMs }, 'call ended');
}
