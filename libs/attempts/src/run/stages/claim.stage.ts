import { AttemptWriter, workerIdentity } from '../../commit/attempt-writer.js';
import { claimAttempt } from '../../claim/claim-attempt.js';
import { telemetry } from '#observability';
import type { AttemptStage } from '../attempt-run.js';

/** Most ineffective writes of a process that has lost the attempt without knowing. */
const LATE_WRITES = 65_536;
/** Most that a write keeps in Redis, and all writes of an attempt. */
const KEPT_BYTES = { write: 8_192, attempt: 2_097_152 };

/**
 * Claims the call for this worker, holds its lease and opens its fenced writer. The answer of the log contains the whole call,
 * or the reason why this worker may not run it. On a single node the claim has already run on dequeue (claim-on-dequeue.lua).
 */
export const claimStage: AttemptStage = {
  name: 'claim',
  async run(run) {
    const { attempt, deps, job, options, pool } = run;
    const wait = (ms: number) => new Promise<void>((resolve) => deps.clock.after(ms, resolve));
    const identity = workerIdentity(deps.config);
    const { claimToken: token, takenOver } = options;
    const claimant = token === undefined ? identity : { ...identity, token };
    const claimed = await claimAttempt(job, claimant, deps.log, wait, options.dequeueClaim);
    if (!('submitted' in claimed)) {
      telemetry.dispatchDuplicate.emit({ pool, code: claimed.code });
      run.notClaimed = claimed;
      return;
    }
    run.claimed = claimed;
    deps.inFlight.onClaimed(attempt, { fence: claimed.fence, effect: claimed.submitted.effect });
    run.releaseLease = deps.leases.hold(job.callId, claimed.fence, {
      lost: () => attempt.abort('lease_lost'),
      cancelRequested: () => attempt.abort('cancelled'),
    });
    const lost = () => attempt.abort('lease_lost');
    const writeSeq = takenOver === undefined ? 0 : takenOver.writeSeq + LATE_WRITES;
    // Sizes of the writes of the process before are unknown: counted as large as they can be.
    const keptBytes = Math.min(((takenOver?.writeSeq ?? 0) % LATE_WRITES) * KEPT_BYTES.write, KEPT_BYTES.attempt);
    run.writer = new AttemptWriter(deps.log, job.callId, claimed.fence, identity.author, lost, writeSeq, keptBytes);
    run.trace = deps.tracer?.start(job.callId, claimed, pool);
    if (takenOver !== undefined) return;
    telemetry.attemptStarted.emit({
      tool: claimed.meta.tool,
      pool,
      cause: claimed.attempt === 1 ? 'first' : 'retry',
      queueWaitMs: Math.max(0, claimed.time - claimed.submittedAt),
    });
  },
};
