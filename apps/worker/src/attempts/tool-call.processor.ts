import type { CallJob, Pool } from '#contracts';
import { isApplied, type CallStore } from '#event-log';
import type { CallConsumer, CallQueue, StartConsumer } from '#queue';
import type { RedisConnection, DequeueHookResult } from '#redis';
import type { WorkerLog } from '../platform/worker.logger.js';
import type { PoolSlots } from '../platform/worker.config.js';
import { executeCall, type Executed } from './execute-call.js';
import type { AttemptDependencies } from './attempt-dependencies.js';

/** Longer waits are left to the reconciler, which looks twice a second. */
const LONGEST_LOCAL_DELAY_MS = 60_000;

/**
 * The seam to BullMQ: jobs in, nothing out. A job says which attempt to run; when the handler returns, the job is gone
 * and all that happened stands in the log.
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
      consumer: this.startConsumer(pool, slots, (job, taken) => this.process(pool, job, taken)),
    }));
  }

  slots(): { pool: Pool; slots: number; running: number }[] {
    return this.consumers.map(({ pool, slots, consumer }) => ({ pool, slots, running: consumer.running }));
  }

  /** Of its consumers, for readiness. */
  get connections(): readonly RedisConnection[] {
    return this.consumers.flatMap(({ consumer }) => consumer.connections);
  }

  /** Takes no more jobs; resolves when the handlers have returned. Jobs that were fetched too late to be run go back. Idempotent. */
  async close(): Promise<void> {
    this.stopping = true;
    for (const timer of this.delayedDispatches) clearTimeout(timer);
    this.delayedDispatches.clear();
    await Promise.all(this.consumers.map(({ consumer }) => consumer.close()));
    await Promise.allSettled(this.undelivered.splice(0).map(({ pool, job }) => this.dispatchAsAccepted(pool, job)));
  }

  /** Resolves when the End has left: the job goes right behind it, in one write, and the attempt itself hears the answer. */
  private async process(pool: Pool, job: CallJob, taken?: DequeueHookResult): Promise<void> {
    if (this.stopping && taken === undefined) {
      this.undelivered.push({ pool, job });
      return;
    }
    await new Promise<void>((resolve) => {
      void executeCall(job, pool, this.deps, { taken, ending: resolve }).then((executed) => {
        this.afterAttempt(pool, job, executed);
        resolve();
      });
    });
  }

  private afterAttempt(pool: Pool, job: CallJob, executed: Executed): void {
    if (executed.kind === 'not_claimed') {
      if (executed.retryInMs !== undefined) this.scheduleDispatch(executed.retryInMs, () => this.dispatchAsAccepted(pool, job));
      return;
    }
    const { claimed, written } = executed;
    if (written.kind === 'retried' && isApplied(written.answer)) {
      const { callId } = job;
      const { submitted, meta } = claimed;
      const next = { callId, attempt: written.nextAttempt };
      this.scheduleDispatch(written.delayMs, () => this.queue.dispatch(pool, next, submitted.priority, meta.tenantId));
    }
    logAttempt(this.deps.logger, job, executed);
  }

  /** With the priority and in the turn that the call was accepted with: a job does not carry them. */
  private async dispatchAsAccepted(pool: Pool, job: CallJob): Promise<void> {
    const head = await this.store.snapshot(job.callId);
    if (head?.status === 'queued') await this.queue.dispatch(pool, job, head.priority, head.meta.tenantId);
  }

  /** Dispatches on time what the reconciler would find a little later; it finds it all the same when this process dies. */
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

/** The one line that a call leaves in the service log. */
function logAttempt(logger: WorkerLog, job: CallJob, { claimed, written }: Executed & { kind: 'executed' }): void {
  const wentWell = written.kind !== 'nothing' && isApplied(written.answer);
  if (!logger.isLevelEnabled(wentWell ? 'info' : 'warn')) return;
  const facts = { callId: job.callId, tool: claimed.meta.tool, attempt: claimed.attempt };
  if (written.kind === 'nothing') logger.warn(facts, 'lost the claim on a call');
  else if (!isApplied(written.answer))
    logger.warn({ ...facts, code: written.answer.code }, 'the log refused what was written last about an attempt');
  else if (written.kind === 'retried') logger.info({ ...facts, delayMs: written.delayMs }, 'attempt goes back to the queue');
  else logger.info({ ...facts, outcome: written.data.outcome, code: written.data.error?.code, runMs: written.data.runMs }, 'call ended');
}
