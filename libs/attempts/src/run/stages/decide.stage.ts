import { type AttemptFacts, decideAttempt } from '../../commit/decide-attempt.js';
import type { AttemptRun, AttemptStage } from '../attempt-run.js';

/** Decides from how the tool ended, and from an abort, whether the attempt ends, is retried, or is another worker's. */
export const decideStage: AttemptStage = {
  name: 'decide',
  run(run) {
    // An attempt that cannot go on here is left to its lease: its tool may still run.
    const isLeft = run.options.takenOver !== undefined && !run.toolReached;
    run.decision = isLeft ? { kind: 'nothing' } : decideAttempt(factsOf(run), run.deps.random);
  },
};

function factsOf({ attempt, claimed, deps, endedAt, runMs, toolResult }: AttemptRun): AttemptFacts {
  const { effect, retry, timeouts } = claimed.submitted;
  const { abortInfo } = attempt;
  return {
    run: toolResult,
    ...(abortInfo ? { aborted: { reason: abortInfo.reason, tookMs: endedAt - abortInfo.at } } : {}),
    effect,
    failures: claimed.failures,
    retry,
    maxAttempts: deps.config.maxAttempts,
    maxBackoffMs: deps.config.maxBackoffMs,
    leftMs: claimed.submittedAt + timeouts.totalMs - (claimed.time + runMs),
    runLimitMs: claimed.runMs,
  };
}
