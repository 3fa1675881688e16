import type { EvaluatedCall } from './evaluated-call.js';
import type { Submission } from './submission.js';

/**
 * Applies the approval of the call that started a background run, which has the same arguments. A rule that requires approval
 * now and did not at the start still requires it; a denial stays a denial. Pure.
 */
export function withInheritedApproval({ options: { startedBy } }: Pick<Submission, 'options'>, evaluated: EvaluatedCall): EvaluatedCall {
  const { decision } = evaluated;
  if (startedBy === undefined || decision.effect !== 'ask') return evaluated;
  const { trustOptions: _unasked, ...judged } = decision;
  const { allowed, callId } = startedBy;
  const satisfiedBy = `allowed with the call that started it: ${callId}`;
  const reasons = decision.reasons.map((it) => {
    const isOpen = it.effect === 'ask' && it.satisfiedBy === undefined;
    const wasAllowed = allowed.some(({ axis, rule, reason }) => it.axis === axis && it.rule === rule && it.reason === reason);
    return isOpen && wasAllowed ? { ...it, satisfiedBy } : it;
  });
  if (reasons.some(({ effect, satisfiedBy: by }) => effect === 'ask' && by === undefined)) return evaluated;
  return { ...evaluated, decision: { ...judged, effect: 'allow', reasons } };
}
