import { renderRefusal } from '#dialects';
import { type AttemptDecision, type AttemptFacts, decideAttempt } from '../../commit/decide-attempt.js';
import type { AttemptRun, AttemptStage } from '../attempt-run.js';

/** Decides by the tool's result, and by an abort, whether the attempt ends, is retried, or belongs to another worker. */
export const decideStage: AttemptStage = {
  name: 'decide',
  run(run) {
    // An attempt that cannot continue here is left to its lease: its tool may still run.
    const isLeft = run.options.takenOver !== undefined && !run.toolReached;
    run.decision = isLeft ? { kind: 'nothing' } : worded(run, decideAttempt(factsOf(run), run.deps.random));
  },
};

/** Translates the worker's own failures (time-outs) into the dialect of the call; tools word their own. */
function worded({ claimed, inputs, toolResult }: AttemptRun, decision: AttemptDecision): AttemptDecision {
  const { dialect, requestedTool, tool } = claimed.submitted;
  if (dialect === undefined || decision.kind !== 'end' || decision.failure?.code !== 'run_timeout') return decision;
  const { code, message } = decision.failure;
  if (toolResult.kind === 'failure' && toolResult.failure.message === message) return decision;
  const facts = { code, message, args: inputs.args, kind: 'run', started: true } as const;
  return { ...decision, failure: { ...decision.failure, message: renderRefusal({ dialect, name: requestedTool ?? tool }, facts) } };
}

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
