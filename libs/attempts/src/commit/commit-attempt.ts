import type { CallError, EndData, Result, Stopped } from '#contracts';
import { argumentRefs, isApplied, suspensionBlob, type Applied, type BlobStore, type Claimed, type Rejection } from '#event-log';
import { tagUntrusted } from '#redaction';
import { CANCELLED, type AttemptDecision } from './decide-attempt.js';
import { noteOf } from './result-note.js';
import { ResultStore } from './result-store.js';
import type { Failure, HookFeedback, RetriedAttempt } from './attempt-result.js';
import type { ForcedShutdown } from '../forced-shutdown.js';
import { StateNotStored, type AttemptWriter } from './attempt-writer.js';
import { commitSuspension } from './commit-suspension.js';

export interface FinishedAttempt {
  readonly claimed: Claimed;
  readonly callId: string;
  /** Result of the tool, if it counts. */
  readonly result?: Result;
  /** Size of the tool's whole output, if the tool returned less. */
  readonly seenBytes?: number | undefined;
  /** See `ToolOutputObject`. */
  readonly readOn?: ((fromByte: number) => string) | undefined;
  readonly how: Stopped['how'];
  /** Longest wait for input without which the call ends. */
  readonly inputMs: number;
  /** Feedback of the hooks after the call. */
  readonly feedback?: HookFeedback;
  readonly runMs: number;
  /** CPU time of the programs that the tool ran; undefined if there were none or it is unknown. */
  readonly cpuMs?: number | undefined;
}

export type CommitResult =
  | { readonly kind: 'ended'; readonly data: EndData; readonly answer: Applied | Rejection }
  | RetriedAttempt
  | { readonly kind: 'nothing' };

/**
 * Writes the decision about an attempt to the log.
 *
 * 1. a retry is one event; after an earlier cancel the call ends as cancelled instead 2. for an end, values too large for an
 * event are stored out of line first, so that End never refers to a missing value 3. End, repeated until Redis acknowledges it;
 * `onEndSent` is called after it was sent for the first time
 */
export async function commitAttempt(
  attempt: FinishedAttempt,
  decision: AttemptDecision,
  writer: AttemptWriter,
  blobs: Pick<BlobStore, 'put' | 'delete'>,
  shutdown: ForcedShutdown,
  onEndSent?: () => void,
): Promise<CommitResult> {
  if (decision.kind === 'nothing') return { kind: 'nothing' };
  if (decision.kind === 'retry') {
    const nextAttempt = attempt.claimed.attempt + 1;
    const { reason, delayMs, countsAsFailure, failure } = decision;
    const data = { reason, nextAttempt, delayMs, ...(failure ? { error: callError(failure) } : {}) };
    const answer = await writer.retry(data, countsAsFailure, shutdown);
    if (answer.code !== 'BAD_TRANSITION') return { kind: 'retried', data, nextAttempt, delayMs, answer };
    return commitAttempt(attempt, cancelledFirst(attempt), writer, blobs, shutdown);
  }
  if (decision.kind === 'suspend') {
    const end = (instead: AttemptDecision) => commitAttempt(attempt, instead, writer, blobs, shutdown);
    try {
      const committed = await commitSuspension(attempt, decision.request, writer, blobs, shutdown);
      if (committed === undefined) return await end(cancelledFirst(attempt));
      if (isApplied(committed.answer)) forgetSuspension(attempt, blobs);
      return committed;
    } catch (error) {
      if (error instanceof StateNotStored) return end({ kind: 'end', outcome: 'failed', failure: NO_ROOM });
      throw error;
    }
  }
  const data = await endData(attempt, decision, new ResultStore(attempt.callId, blobs));
  const answer = await writer.end(data, shutdown, onEndSent);
  // Deletion is not awaited: if this process dies first, the value expires.
  const { submitted } = attempt.claimed;
  if (submitted.argumentsRedacted && isApplied(answer)) void blobs.delete(attempt.callId, argumentRefs(submitted).secret).catch(() => {});
  if (isApplied(answer)) forgetSuspension(attempt, blobs);
  return { kind: 'ended', data, answer };
}

/** Deletes state and input of the suspension before this attempt. Does not await, as with secret arguments. */
function forgetSuspension({ callId, claimed: { resumed } }: FinishedAttempt, blobs: Pick<BlobStore, 'delete'>): void {
  for (const value of [resumed?.state, resumed?.input?.stored]) {
    if (value !== undefined) void blobs.delete(callId, suspensionBlob(value)).catch(() => {});
  }
}

/** Decision after the log rejected an event of a running call, whose only cause is a cancel. */
function cancelledFirst({ how }: FinishedAttempt): AttemptDecision {
  return { kind: 'end', outcome: 'cancelled', failure: CANCELLED, stopped: { how, tookMs: 0 } };
}

const NO_ROOM: Failure = {
  code: 'unavailable',
  message: 'Redis has no room for the state and the updates of the suspended tool (maxmemory, TENANT_CALL_BYTES). Retry later.',
  retryable: true,
};

async function endData(attempt: FinishedAttempt, decision: AttemptDecision & { kind: 'end' }, store: ResultStore): Promise<EndData> {
  const { claimed, runMs, cpuMs, feedback } = attempt;
  const { failure } = decision;
  const fullResult = failure || !attempt.result ? errorResult(failure?.message ?? '', failure?.origin) : attempt.result;
  const result =
    fullResult !== attempt.result && feedback === undefined
      ? { result: fullResult }
      : await store.keep(withFeedback(fullResult, feedback), claimed.meta.tool, {
          modelBytes: claimed.submitted.resultBytes,
          remark: feedback?.text,
          ...(fullResult === attempt.result ? { seenBytes: attempt.seenBytes, readOn: attempt.readOn } : {}),
          tailBytes: claimed.submitted.resultTailBytes,
        });
  return {
    outcome: decision.outcome,
    ...successOf(decision.outcome, fullResult, feedback),
    ...(failure ? { error: callError(failure) } : {}),
    ...result,
    attempts: claimed.attempt,
    queueMs: Math.max(0, claimed.firstStartedAt - claimed.submittedAt),
    runMs: Math.round(runMs),
    ...(cpuMs === undefined ? {} : { cpuMs }),
    ...(decision.stopped ? { stopped: { how: decision.stopped.how, tookMs: Math.round(decision.stopped.tookMs) } } : {}),
  };
}

function successOf(outcome: EndData['outcome'], fullResult: Result, feedback: HookFeedback | undefined): Pick<EndData, 'isError' | 'note'> {
  const isError = fullResult.isError || feedback?.denied === true;
  const note = outcome === 'completed' && isError ? noteOf(fullResult, feedback) : undefined;
  return { isError, ...(note === undefined ? {} : { note }) };
}

/** Adds the actions of hooks to `details`, for people. A denial by a hook makes any result an error. */
function withFeedback(result: Result, feedback: HookFeedback | undefined): Result {
  if (feedback === undefined) return result;
  return {
    ...result,
    isError: result.isError || feedback.denied,
    ...(feedback.runs.length === 0 ? {} : { details: { ...result.details, hooks: feedback.runs } }),
  };
}

/** `origin`: the external source that may have written the message. */
export function errorResult(message: string, origin?: string): Result {
  const content: Result['content'] = [{ type: 'text', text: message }];
  if (origin === undefined) return { content, isError: true };
  return { content: tagUntrusted(content, origin), isError: true, provenance: { trust: 'untrusted', origin } };
}

export function callError({ code, message, retryable, errors, missingCapability }: Failure): CallError {
  return { code, message, retryable, ...(errors ? { errors: [...errors] } : {}), ...(missingCapability ? { missingCapability } : {}) };
}
