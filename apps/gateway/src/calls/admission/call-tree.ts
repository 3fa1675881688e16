import type { EvaluatedCall } from './evaluated-call.js';
import type { Submission } from './submission.js';
import { withCallers } from './tool-callers.js';
import type { Decision } from '#contracts';

/** Applies restrictions of ancestor calls and the approval of the call that started this one. Pure. */
export function applyCallTree(submission: Submission, evaluated: EvaluatedCall): EvaluatedCall {
  return withInheritedApproval(submission, withCallers(submission, withAgentDepth(submission, evaluated)));
}

/**
 * Applies the approval of the call that started a background run, which has the same arguments. A rule that requires approval
 * now and did not at the start still requires it; a denial stays a denial. Pure.
 */
function withInheritedApproval({ options: { startedBy } }: Pick<Submission, 'options'>, evaluated: EvaluatedCall): EvaluatedCall {
  const { decision } = evaluated;
  if (startedBy === undefined || decision.effect !== 'ask') return evaluated;
  const { trustOptions: _unasked, ...others } = decision;
  const { allowed, callId } = startedBy;
  const satisfiedBy = `allowed with the call that started it: ${callId}`;
  const reasons = decision.reasons.map((it) => {
    const isOpen = it.effect === 'ask' && it.satisfiedBy === undefined;
    const wasAllowed = allowed.some(({ axis, rule, reason }) => it.axis === axis && it.rule === rule && it.reason === reason);
    return isOpen && wasAllowed ? { ...it, satisfiedBy } : it;
  });
  if (reasons.some(({ effect, satisfiedBy: by }) => effect === 'ask' && by === undefined)) return evaluated;
  return { ...evaluated, decision: { ...others, effect: 'allow', reasons } };
}

/**
 * Rejects a sub-agent below another one, unless the loop of the upper one makes the call and has levels left. Also holds for
 * keys that name a sub-agent's call as parent, and for tools that run below one. Pure.
 */
function withAgentDepth({ lineage, options }: Pick<Submission, 'lineage' | 'options'>, evaluated: EvaluatedCall): EvaluatedCall {
  const { tool, rejection } = evaluated;
  if (rejection !== undefined || tool?.pool !== 'agent') return evaluated;
  const above = lineage?.agentsAbove ?? 0;
  const left = options.byAgent?.budget.depth ?? 0;
  if (above === 0 || left >= 1) return evaluated;
  const reason = `${tool.name} is a sub-agent, and below ${above === 1 ? 'a sub-agent' : `${above} sub-agents`} no other may run here`;
  const decision: Decision = {
    effect: 'deny',
    reasons: [...evaluated.decision.reasons, { axis: 'limits', rule: 'agent-depth', effect: 'deny', reason }],
  };
  const error = { code: 'policy_denied', message: `Denied by policy: ${reason}`, retryable: false } as const;
  return { ...evaluated, decision, rejection: { outcome: 'denied', error } };
}
