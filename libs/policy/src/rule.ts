import type { DecisionReason } from '#contracts';
import type { CallFacts } from './call-facts.js';
import type { RiskArguments } from './risk-arguments/risk-arguments.js';

/**
 * Result of a rule. `liftedBy`: trust that makes an `ask` unnecessary. `tool`, or absent: trust in the tool alone. `arguments`:
 * also trust in these arguments (paths, commands). `text`: trust in the arguments, for commands in this exact text. `itself`:
 * only the subject of the rule.
 */
export interface RuleResult extends Omit<DecisionReason, 'satisfiedBy'> {
  readonly liftedBy?: 'tool' | 'arguments' | 'text' | 'itself';
}

/** Evaluates one axis. No result when the call has nothing that the rule is about. Pure, and never throws. */
export type Rule = (facts: CallFacts, subjects: RiskArguments) => readonly RuleResult[];
