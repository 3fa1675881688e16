import type { EvaluatedCall } from './evaluated-call.js';
import type { Submission } from './submission.js';

/**
 * A background run whose starter a person allowed is not asked about again: it has the arguments that were allowed. A
 * rule that asks now and did not then is asked about; a denial stays a denial. Pure.
 */
export function withStartersApproval({ options: { startedBy } }: Pick<Submission, 'options'>, evaluated: EvaluatedCall): EvaluatedCall {
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
