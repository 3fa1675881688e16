import type { CallOutcome, RetryPolicy, RetryReason, Stopped, ToolEffect } from '#contracts';
import { retryDelay } from './retry-delay.js';
import type { AbortReason, Failure, RunResult, SuspensionRequest } from './attempt-result.js';

export interface AttemptFacts {
  readonly run: RunResult;
  /** Set if the attempt was aborted. `tookMs`: from the abort until the tool ended. */
  readonly aborted?: { readonly reason: AbortReason; readonly tookMs: number };
  readonly effect: ToolEffect;
  /** Failed attempts before this one. */
  readonly failures: number;
  readonly retry: RetryPolicy;
  readonly maxAttempts: number;
  readonly maxBackoffMs: number;
  /** Milliseconds left until the deadline of the whole call. */
  readonly leftMs: number;
  readonly runLimitMs: number;
}

/** Decision about an attempt. `nothing`: another worker owns the call. */
export type AttemptDecision =
  | { readonly kind: 'end'; readonly outcome: CallOutcome; readonly failure?: Failure; readonly stopped?: Stopped }
  | {
      readonly kind: 'retry';
      readonly reason: RetryReason;
      readonly delayMs: number;
      readonly countsAsFailure: boolean;
      readonly failure?: Failure;
    }
  | { readonly kind: 'suspend'; readonly request: SuspensionRequest }
  | { readonly kind: 'nothing' };

export const OUTCOME_UNKNOWN: Failure = {
  code: 'outcome_unknown',
  message:
    'The worker stopped while the tool was running. Its effects may or may not have happened, so the call is not run again. Check before you repeat it.',
  retryable: false,
};
export const CANCELLED: Failure = { code: 'cancelled', message: 'Cancelled', retryable: false };

/** Decides about an attempt. Pure. The result of a finished tool counts even after an abort, except after the run deadline. */
export function decideAttempt(facts: AttemptFacts, random: () => number): AttemptDecision {
  const { run, aborted: stop } = facts;
  if (stop?.reason === 'lease_lost') return { kind: 'nothing' };
  if (stop?.reason === 'run_timeout') return timedOut(facts, stop.tookMs, random);
  if (run.kind === 'output')
    return {
      kind: 'end',
      outcome: 'completed',
      ...(stop?.reason === 'cancelled' ? { stopped: { how: 'finished_first', tookMs: stop.tookMs } } : {}),
    };
  if (stop?.reason === 'cancelled')
    return { kind: 'end', outcome: 'cancelled', failure: CANCELLED, stopped: { how: howEnded(run, 'cancelled'), tookMs: stop.tookMs } };
  if (run.kind === 'suspended') return { kind: 'suspend', request: run.request };
  if (stop?.reason === 'drained') return drained(facts, stop.tookMs);
  if (run.kind !== 'failure') throw new Error(`An attempt that was not aborted ended as ${run.kind}.`);
  return retryOr(facts, 'tool_failed', run.failure, random, { kind: 'end', outcome: outcomeOf(run.failure), failure: run.failure });
}

function timedOut(facts: AttemptFacts, tookMs: number, random: () => number): AttemptDecision {
  const failure: Failure = {
    code: 'run_timeout',
    message: `The call timed out after ${facts.runLimitMs.toLocaleString('en-US')} ms and was stopped.`,
    // The tool may exclude another attempt that would take as long.
    retryable: facts.run.kind !== 'failure' || facts.run.failure.code !== 'run_timeout' || facts.run.failure.retryable,
  };
  return retryOr(facts, 'run_timeout', failure, random, {
    kind: 'end',
    outcome: 'timed_out',
    failure,
    stopped: { how: howEnded(facts.run, 'run_timeout'), tookMs },
  });
}

function drained(facts: AttemptFacts, tookMs: number): AttemptDecision {
  if (facts.effect !== 'once' || facts.run.kind === 'not_started')
    return { kind: 'retry', reason: 'worker_drained', delayMs: 0, countsAsFailure: false };
  return { kind: 'end', outcome: 'unknown', failure: OUTCOME_UNKNOWN, stopped: { how: howEnded(facts.run, 'drained'), tookMs } };
}

/**
 * Retries only a retryable failure of a call that may run twice, while attempts and time are left, and not before the time in
 * the failure.
 */
function retryOr(facts: AttemptFacts, reason: RetryReason, failure: Failure, random: () => number, end: AttemptDecision): AttemptDecision {
  const maxAttempts = Math.min(facts.retry.maxAttempts, facts.maxAttempts);
  if (!failure.retryable || facts.effect === 'once' || facts.failures + 1 >= maxAttempts) return end;
  const { retryAfterMs = 0 } = failure;
  const delayMs = Math.max(retryAfterMs, retryDelay(facts.retry, facts.failures, facts.maxBackoffMs, random));
  return delayMs >= facts.leftMs || retryAfterMs > facts.maxBackoffMs
    ? end
    : { kind: 'retry', reason, delayMs, countsAsFailure: true, failure };
}

/** Code that a tool throws on an abort. */
const ABORT_CODES: Readonly<Record<AbortReason, Failure['code']>> = {
  run_timeout: 'run_timeout',
  cancelled: 'cancelled',
  drained: 'worker_lost',
  lease_lost: 'worker_lost',
};

/** Way in which the tool ended, as far as known. `reason`: that of an abort, if any. An unresponsive tool may still run. */
export function howEnded(run: RunResult, reason: AbortReason | undefined): Stopped['how'] {
  switch (run.kind) {
    case 'output':
      return 'finished_first';
    case 'suspended':
      return 'stopped';
    case 'not_started':
      return 'not_started';
    case 'unresponsive':
      return 'unknown';
    case 'failure':
      if (run.failure.killed) return 'killed';
      if (reason === undefined) return 'finished_first';
      return run.failure.code === ABORT_CODES[reason] && !run.failure.mayHaveFinished ? 'stopped' : 'unknown';
  }
}

function outcomeOf(failure: Failure): CallOutcome {
  switch (failure.code) {
    case 'run_timeout':
    case 'queue_timeout':
    case 'input_expired':
      return 'timed_out';
    case 'policy_denied':
    case 'approval_denied':
    case 'approval_expired':
    case 'hook_rejected':
      return 'denied';
    case 'cancelled':
      return 'cancelled';
    case 'outcome_unknown':
      return 'unknown';
    case 'not_found':
    case 'invalid_arguments':
    case 'payload_too_large':
    case 'rate_limited':
    case 'quota_exceeded':
    case 'unavailable':
    case 'tool_failed':
    case 'worker_lost':
    case 'output_invalid':
    case 'internal':
      return 'failed';
  }
}
