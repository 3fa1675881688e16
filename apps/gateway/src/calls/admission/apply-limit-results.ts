import type { LimitResult } from '#limits';
import type { EvaluatedCall } from './evaluated-call.js';

export interface LimitedCall {
  readonly evaluated: EvaluatedCall;
  readonly rejection?: EvaluatedCall['rejection'];
  readonly retryAfterMs?: number | undefined;
}

/** Adds the results of the limits to the reasons of the decision. The rejection with the longest retry delay wins. Pure. */
export function applyLimitResults(evaluated: EvaluatedCall, answers: readonly LimitResult[]): LimitedCall {
  if (answers.length === 0) return { evaluated };
  const rejections = answers.flatMap(({ rejection }) => (rejection === undefined ? [] : [rejection]));
  const [longest] = rejections.sort((a, b) => (b.retryAfterMs ?? Infinity) - (a.retryAfterMs ?? Infinity));
  const reasons = [...evaluated.decision.reasons, ...answers.map(({ reason }) => reason)];
  if (longest === undefined) return { evaluated: { ...evaluated, decision: { ...evaluated.decision, reasons } } };

  const { code, message, retryAfterMs } = longest;
  const isCounted = code === 'rate_limited' || code === 'quota_exceeded';
  const rejection: EvaluatedCall['rejection'] = {
    outcome: isCounted ? 'denied' : 'failed',
    error: {
      code,
      message,
      retryable: retryAfterMs !== undefined,
      ...(code === 'payload_too_large' ? { errors: [{ pointer: '', message }] } : {}),
    },
  };
  return { evaluated: { ...evaluated, decision: { ...evaluated.decision, effect: 'deny', reasons }, rejection }, rejection, retryAfterMs };
}
