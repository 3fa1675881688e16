import type { CallJob, Pool } from '#contracts';
import { isApplied } from '#event-log';
import type { CallConsumer, CallQueue, StartConsumer } from '#queue';
import type { RedisConnection, TakeAnswer } from '#redis';
import type { WorkerLog } from '../worker.logger.js';
import type { PoolSlots } from '../worker.config.js';
import { executeCall, type Executed } from './execute-call.js';
import type { ExecuteDeps } from './execute-deps.js';

/** Longer waits are left to the reconciler, which looks twice a second. */
const DISPATCH_HERE_MS = 60_000;

/**
 * The seam to BullMQ: jobs in, nothing out. A job says which attempt to run; when the handler returns, the job is gone
 * and all that happened stands in the log.
 */
export class ToolCallProcessor {
  private consumers: { readonly pool: Pool; readonly slots: number; readonly consumer: CallConsumer }[] = [];
  private readonly leftOver: { readonly pool: Pool; readonly job: CallJob }[] = [];
  private readonly later = new Set<NodeJS.Timeout>();
  private stopping = false;

  constructor(
    private readonly pools: readonly PoolSlots[],
    private readonly startConsumer: StartConsumer,
    private readonly queue: Pick<CallQueue, 'dispatch'>,
    private readonly deps: ExecuteDeps,
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
    for (const timer of this.later) clearTimeout(timer);
    this.later.clear();
    await Promise.all(this.consumers.map(({ consumer }) => consumer.close()));
    await Promise.allSettled(this.leftOver.splice(0).map(({ pool, job }) => this.queue.dispatch(pool, job, 'normal')));
  }

  /** Resolves when the End has left: the job goes right behind it, in one write, and the attempt itself hears the answer. */
  private async process(pool: Pool, job: CallJob, taken?: TakeAnswer): Promise<void> {
    if (this.stopping && taken === undefined) {
      this.leftOver.push({ pool, job });
      return;
    }
    await new Promise<void>((resolve) => {
      void executeCall(job, pool, this.deps, { taken, ending: resolve }).then((executed) => {
        this.after(pool, job, executed);
        resolve();
      });
    });
  }

  private after(pool: Pool, job: CallJob, executed: Executed): void {
    if (executed.kind === 'not_claimed') {
      if (executed.retryInMs !== undefined) this.dispatchLater(pool, job, 'normal', executed.retryInMs);
      return;
    }
    const { claimed, written } = executed;
    if (written.kind === 'retried' && isApplied(written.answer)) {
      this.dispatchLater(
        pool,
        { callId: job.callId, attempt: written.nextAttempt },
        claimed.submitted.priority,
        written.delayMs,
        claimed.meta.tenantId,
      );
    }
    logEnded(this.deps.logger, job, executed);
  }

  /** Dispatches on time what the reconciler would find a little later; it finds it all the same when this process dies. */
  private dispatchLater(pool: Pool, job: CallJob, priority: 'high' | 'normal' | 'low', delayMs: number, tenantId?: string): void {
    const dispatch = () => void this.queue.dispatch(pool, job, priority, tenantId).catch(() => {});
    if (delayMs === 0) return dispatch();
    if (this.stopping || delayMs > DISPATCH_HERE_MS) return;
    const timer = setTimeout(() => {
      this.later.delete(timer);
      dispatch();
    }, delayMs);
    timer.unref();
    this.later.add(timer);
  }
}

/** The one line that a call leaves in the service log. */
function logEnded(logger: WorkerLog, job: CallJob, { claimed, written }: Executed & { kind: 'executed' }): void {
  const wentWell = written.kind !== 'nothing' && isApplied(written.answer);
  if (!logger.isLevelEnabled(wentWell ? 'info' : 'warn')) return;
  const facts = { callId: job.callId, tool: claimed.meta.tool, attempt: claimed.attempt };
  if (written.kind === 'nothing') logger.warn(facts, 'lost the claim on a call');
  else if (!isApplied(written.answer))
    logger.warn({ ...facts, code: written.answer.code }, 'the log refused what was written last about an attempt');
  else if (written.kind === 'retried') logger.info({ ...facts, delayMs: written.delayMs }, 'attempt goes back to the queue');
  else logger.info({ ...facts, outcome: written.data.outcome, code: written.data.error?.code, runMs: written.data.runMs }, 'call ended');
}
