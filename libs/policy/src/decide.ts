import type { Decision, DecisionReason, Posture, ToolEffect, ToolTier } from '#contracts';
import { postureRule } from './rules/posture.rule.js';

/** Everything a decision may look at; all of it values, so the same facts give the same answer anywhere. */
export interface CallFacts {
  readonly tool: { readonly name: string; readonly tier: ToolTier; readonly effect: ToolEffect };
  readonly posture: Posture;
}

/** One evaluator of one axis. It answers for every call, so that a decision can be explained. */
export type Rule = (facts: CallFacts) => DecisionReason;

const rules: readonly Rule[] = [postureRule];

/** Judges a call: deny beats ask beats allow. All answers are kept. */
export function decide(facts: CallFacts): Decision {
  const reasons = rules.map((rule) => rule(facts));
  const effect = reasons.some((r) => r.effect === 'deny') ? 'deny' : reasons.some((r) => r.effect === 'ask') ? 'ask' : 'allow';
  return { effect, reasons };
}
