import type { DecisionReason } from '#contracts';
import type { CallFacts } from './call-facts.js';
import type { RiskArguments } from './risk-arguments/risk-arguments.js';

/**
 * One result of a rule. `liftedBy` says what makes an `ask` unnecessary: trust in the tool alone, or also trust in these
 * arguments (their paths, their commands). `text`: trust in the arguments, and of commands in this very text. Without it only
 * trust in the tool does. `itself`: nothing but what the rule looks at.
 */
export interface RuleResult extends Omit<DecisionReason, 'satisfiedBy'> {
  readonly liftedBy?: 'tool' | 'arguments' | 'text' | 'itself';
}

/** Evaluates one axis. No result when the call has nothing that the rule is about. Pure, and never throws. */
export type Rule = (facts: CallFacts, subjects: RiskArguments) => readonly RuleResult[];
