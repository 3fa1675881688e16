import type { Decision } from '#contracts';
import type { EvaluatedCall } from './evaluated-call.js';
import type { Submission } from './submission.js';

/**
 * Rejects a sub-agent below another one, unless the loop of the upper one makes the call and has levels left. Also holds for
 * keys that name a sub-agent's call as parent, and for tools that run below one. Pure.
 */
export function withAgentDepth({ lineage, options }: Pick<Submission, 'lineage' | 'options'>, evaluated: EvaluatedCall): EvaluatedCall {
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
