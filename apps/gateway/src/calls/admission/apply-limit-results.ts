import type { LimitResult } from '#limits';
import type { EvaluatedCall } from './new-call.js';

/** Adds what the limits say to what a call was judged before. The refusal that lasts longest is told. Pure. */
export function applyLimitResults(
  judged: EvaluatedCall,
  answers: readonly LimitResult[],
): { judged: EvaluatedCall; refusal?: EvaluatedCall['rejection']; retryAfterMs?: number | undefined } {
  if (answers.length === 0) return { judged };
  const refusals = answers.flatMap(({ rejection }) => (rejection === undefined ? [] : [rejection]));
  const [worst] = refusals.sort((a, b) => (b.retryAfterMs ?? Infinity) - (a.retryAfterMs ?? Infinity));
  const reasons = [...judged.decision.reasons, ...answers.map(({ reason }) => reason)];
  if (worst === undefined) return { judged: { ...judged, decision: { ...judged.decision, reasons } } };

  const { code, message, retryAfterMs } = worst;
  const counted = code === 'rate_limited' || code === 'quota_exceeded';
  const refusal: EvaluatedCall['rejection'] = {
    outcome: counted ? 'denied' : 'failed',
    error: {
      code,
      message,
      retryable: retryAfterMs !== undefined,
      ...(code === 'payload_too_large' ? { errors: [{ pointer: '', message }] } : {}),
    },
  };
  return { judged: { ...judged, decision: { ...judged.decision, effect: 'deny', reasons }, rejection: refusal }, refusal, retryAfterMs };
}
