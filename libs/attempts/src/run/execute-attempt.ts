import type { CommitResult } from '../commit/commit-attempt.js';
import type { CallJob, Pool } from '#contracts';
import type { Claimed } from '#event-log';
import type { AttemptDependencies } from './attempt-dependencies.js';
import { ATTEMPT_STAGES } from './attempt-pipeline.js';
import { type AttemptOptions, AttemptRun, runAttemptStages } from './attempt-run.js';

export type AttemptOutcome =
  /** The job was late or a duplicate, or Redis is unreachable. The timers of the log dispatch the call again. */
  | { readonly kind: 'not_claimed'; readonly code: string; readonly retryInMs?: number }
  | { readonly kind: 'executed'; readonly claimed: Claimed; readonly committed: CommitResult };

/**
 * Runs one attempt of a call through the stages of `attempt-pipeline.ts`. Never rejects: every failure becomes an event or is
 * left to the reconciler. The attempt is in flight from before its claim until its last stage.
 */
export async function executeAttempt(
  job: CallJob,
  pool: Pool,
  deps: AttemptDependencies,
  options: AttemptOptions = {},
): Promise<AttemptOutcome> {
  const run = new AttemptRun(job, pool, deps, options);
  const { attempt } = run;
  deps.inFlight.add(attempt);
  try {
    await runAttemptStages(ATTEMPT_STAGES, run);
    if (run.notClaimed !== undefined) return { kind: 'not_claimed', ...run.notClaimed };
    return { kind: 'executed', claimed: run.claimed, committed: run.committed ?? { kind: 'nothing' } };
  } catch (error) {
    deps.logger.error({ callId: job.callId, err: error }, 'attempt failed; its call is left to the reconciler');
    return { kind: 'not_claimed', code: 'INTERNAL' };
  } finally {
    run.releaseLease?.();
    run.trace?.end(run.committed);
    attempt.close();
    deps.inFlight.delete(attempt);
  }
}
