import { ProblemError, type Call, type CallErrorCode, type Violation } from '#contracts';

/** Error codes of calls rejected before they are queued. */
const REJECTION_CODES: ReadonlySet<CallErrorCode> = new Set([
  'not_found',
  'invalid_arguments',
  'payload_too_large',
  'policy_denied',
  'hook_rejected',
  'rate_limited',
  'quota_exceeded',
  'unavailable',
]);

/** True for a call that was rejected at its admission, and recorded. */
export function wasRejected(call: Call): boolean {
  return call.status === 'ended' && call.attempt === 0 && call.error !== undefined && REJECTION_CODES.has(call.error.code);
}

/** Response to the submission of a rejected call. `result` can be passed to the model unchanged. */
export function rejectionProblem({ id, error, result }: Call, retryAfterMs?: number): ProblemError {
  const { code, message, errors } = error ?? { code: 'internal' as const, message: 'The call was refused' };
  return new ProblemError(code, message, {
    callId: id,
    result,
    ...(errors === undefined ? {} : { errors: inBody(errors) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Most characters of a rejection text for a model. */
const MODEL_CHARS = 2_000;

/** Adds a result for the model to the problem of a submission that never became a call. */
export function withModelResult(problem: ProblemError): ProblemError {
  const { code, detail, facts } = problem;
  if (facts.result !== undefined) return problem;
  const text = detail.length <= MODEL_CHARS ? detail : `${detail.slice(0, MODEL_CHARS).toWellFormed()} …`;
  return new ProblemError(code, detail, { ...facts, result: { content: [{ type: 'text', text }], isError: true } });
}

/** Converts pointers into a call's arguments to pointers into the request body. */
export function inBody(errors: readonly Violation[]): Violation[] {
  return errors.map(({ pointer, message }) => ({ pointer: `/arguments${pointer}`, message }));
}

export function idempotencyKeyReused(idempotencyKey: string | undefined): ProblemError {
  const key = idempotencyKey === undefined ? 'This toolCallId was used in its session' : 'This Idempotency-Key was used';
  return new ProblemError(
    'idempotency_key_reused',
    `${key} with another request within the last 24 hours; use a new one for a new request`,
  );
}
