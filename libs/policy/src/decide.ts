import type { Decision, DecisionReason } from '#contracts';
import type { CallFacts } from './call-facts.js';
import { postureRule } from './rules/posture.rule.js';

/** One evaluator of one axis. It answers for every call, so that a decision can be explained. */
export type Rule = (facts: CallFacts) => DecisionReason;

const rules: readonly Rule[] = [postureRule];

/** Judges a call: deny beats ask beats allow. All answers are kept. */
export function decide(facts: CallFacts): Decision {
  const reasons = rules.map((rule) => rule(facts));
  const effect = reasons.some((r) => r.effect === 'deny') ? 'deny' : reasons.some((r) => r.effect === 'ask') ? 'ask' : 'allow';
  return { effect, reasons };
}
