import type { CallOutcome, Pool, Priority, RetryReason, Stopped } from '#contracts';
import { DEADLINE_SLACK_MS, type CallSnapshot } from '#event-log';
import { CANCELLED, OUTCOME_UNKNOWN } from '../commit/decide-attempt.js';
import type { Failure } from '../commit/attempt-result.js';

/** Time after the grace of a cancel at which the reconciler ends a call that its worker should have ended. */
const WORKER_GRACE_MS = 1_500;

export type RecoveryAction =
  | { readonly kind: 'dispatch'; readonly pool: Pool; readonly queue: string; readonly attempt: number; readonly priority: Priority }
  | {
      readonly kind: 'end';
      readonly outcome: CallOutcome;
      readonly failure: Failure;
      /** Way in which the tool ended; after a cancel, `tookMs` counts from the end of its grace. */
      readonly stopped?: Stopped;
      readonly leaseExpired: boolean;
    }
  | { readonly kind: 'retry'; readonly reason: RetryReason & 'worker_lost'; readonly failure: Failure }
  | { readonly kind: 'none' };

const NONE: RecoveryAction = { kind: 'none' };
const WORKER_LOST: Failure = { code: 'worker_lost', message: 'The worker that ran the call was lost.', retryable: true };

/**
 * Decides the action for a call whose timer is due. Pure: `now` is Redis time, `dueAt` the score of the timer. The log checks
 * every action again, so an old snapshot is safe.
 */
export function decideRecovery(head: CallSnapshot, dueAt: number, now: number): RecoveryAction {
  switch (head.status) {
    case 'ended':
      return NONE;
    case 'waiting_approval':
      return now < head.deadline ? NONE : ended(head, 'denied', 'approval_expired', 'No decision about the call came in time.', false);
    case 'queued':
      return queued(head, now);
    case 'waiting_input':
      if (now >= head.deadline)
        return ended(
          head,
          'timed_out',
          'input_expired',
          'The tool asked for input, and none came in time. Call it again to be asked again.',
          true,
        );
      return dispatch(head);
    case 'running':
      return running(head, dueAt, now);
  }
}

function queued(head: CallSnapshot, now: number): RecoveryAction {
  if (now >= head.totalDeadline && head.attempt > 0)
    return ended(head, 'timed_out', 'run_timeout', 'The time for the whole call was over before it could end.', true);
  if (now >= head.deadline)
    return ended(head, 'timed_out', 'queue_timeout', 'The call waited longer in the queue than allowed and was not run.', true);
  return dispatch(head);
}

function dispatch({ pool, queue, attempt, priority }: CallSnapshot): RecoveryAction {
  return { kind: 'dispatch', pool, queue, attempt: attempt + 1, priority };
}

function running(head: CallSnapshot, dueAt: number, now: number): RecoveryAction {
  const leaseOver = now >= head.leaseUntil;
  if (head.cancelRequested) {
    if (!leaseOver && now < dueAt + WORKER_GRACE_MS) return NONE;
    return {
      kind: 'end',
      outcome: 'cancelled',
      failure: CANCELLED,
      stopped: { how: 'unknown', tookMs: Math.max(0, now - dueAt) },
      leaseExpired: leaseOver,
    };
  }
  if (leaseOver) return workerLost(head, now);
  if (now < head.deadline + DEADLINE_SLACK_MS) return NONE;
  const failure: Failure = {
    code: 'run_timeout',
    message: 'The call exceeded its time limit, and its worker did not confirm that it stopped.',
    retryable: true,
  };
  return { kind: 'end', outcome: 'timed_out', failure, stopped: { how: 'unknown', tookMs: now - head.deadline }, leaseExpired: false };
}

function workerLost(head: CallSnapshot, now: number): RecoveryAction {
  if (head.effect === 'once') return { kind: 'end', outcome: 'unknown', failure: OUTCOME_UNKNOWN, leaseExpired: true };
  if (now < head.totalDeadline && head.failures + 1 < head.maxAttempts)
    return { kind: 'retry', reason: 'worker_lost', failure: WORKER_LOST };
  const message = `The worker that ran the call was lost, after ${head.attempt} ${head.attempt === 1 ? 'attempt' : 'attempts'}.`;
  return { kind: 'end', outcome: 'failed', failure: { ...WORKER_LOST, message }, leaseExpired: true };
}

function ended(head: CallSnapshot, outcome: CallOutcome, code: Failure['code'], message: string, retryable: boolean): RecoveryAction {
  const notStarted: { stopped?: Stopped } = head.attempt === 0 ? { stopped: { how: 'not_started', tookMs: 0 } } : {};
  return { kind: 'end', outcome, failure: { code, message, retryable }, ...notStarted, leaseExpired: false };
}
