import type { CallJob } from '#contracts';
import { isApplied, type CallStore } from '#event-log';
import type { CallQueue } from '#queue';
import type { AttemptLog } from './attempt-log.js';
import type { AttemptOutcome } from './execute-attempt.js';

/** Longest delay kept in this process; the reconciler handles longer ones, twice a second. */
const LONGEST_LOCAL_DELAY_MS = 60_000;

/** Follow-up of an attempt: a line in the service log, and the dispatch of the next attempt. */
export class AttemptFollowUp {
  private readonly delayedDispatches = new Set<NodeJS.Timeout>();
  private stopping = false;

  constructor(
    private readonly queue: Pick<CallQueue, 'dispatch'>,
    private readonly store: Pick<CallStore, 'snapshot'>,
    private readonly logger: AttemptLog,
  ) {}

  /** `queue`: source of the job. */
  after(queue: string, job: CallJob, outcome: AttemptOutcome): void {
    if (outcome.kind === 'not_claimed') {
      if (outcome.retryInMs !== undefined) this.dispatchLater(queue, job, outcome.retryInMs);
      return;
    }
    const { claimed, committed } = outcome;
    if (committed.kind === 'retried' && isApplied(committed.answer)) {
      const { submitted, meta } = claimed;
      const next = { callId: job.callId, attempt: committed.nextAttempt };
      if (committed.delayMs !== undefined)
        this.schedule(committed.delayMs, () => this.queue.dispatch(queue, next, submitted.priority, meta.tenantId));
    }
    logAttempt(this.logger, job, outcome);
  }

  /** Dispatches with the priority and tenant of the call, which a job does not contain. */
  async dispatchAsAccepted(queue: string, job: CallJob): Promise<void> {
    const head = await this.store.snapshot(job.callId);
    if (head?.status === 'queued') await this.queue.dispatch(queue, job, head.priority, head.meta.tenantId);
  }

  /** Requeues a job after a delay. */
  dispatchLater(queue: string, job: CallJob, delayMs: number): void {
    this.schedule(delayMs, () => this.dispatchAsAccepted(queue, job));
  }

  /** Leaves delayed dispatches to the reconciler. Idempotent. */
  close(): void {
    this.stopping = true;
    for (const timer of this.delayedDispatches) clearTimeout(timer);
    this.delayedDispatches.clear();
  }

  /** Dispatches a call on time; without this process the reconciler does so a little later. */
  private schedule(delayMs: number, dispatch: () => Promise<void>): void {
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

/** Writes one line to the service log for each attempt. */
function logAttempt(logger: AttemptLog, job: CallJob, { claimed, committed }: AttemptOutcome & { kind: 'executed' }): void {
  const applied = committed.kind !== 'nothing' && isApplied(committed.answer);
  if (!logger.isLevelEnabled(applied ? 'info' : 'warn')) return;
  const facts = { callId: job.callId, tool: claimed.meta.tool, attempt: claimed.attempt };
  if (committed.kind === 'nothing') logger.warn(facts, 'lease of a call lost to another worker');
  else if (!isApplied(committed.answer))
    logger.warn({ ...facts, code: committed.answer.code }, 'event log rejected the last event of an attempt');
  else if (committed.kind === 'retried') logger.info({ ...facts, delayMs: committed.delayMs }, 'attempt requeued');
  else
    logger.info({ ...facts, outcome: committed.data.outcome, code: committed.data.error?.code, runMs: committed.data.runMs }, 'call ended');
}
