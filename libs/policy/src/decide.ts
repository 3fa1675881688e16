import type { Decision, DecisionReason } from '#contracts';
import type { CallFacts } from './call-facts.js';
import { argumentTrust, isExact, toolTrust } from './grants/argument-trust.js';
import { trustOptionsFor } from './grants/trust-options.js';
import { riskOfCall } from './risk-of-call.js';
import type { RuleResult, Rule } from './rule.js';
import { agentRule } from './rules/agent.rule.js';
import { autoRunFileRule } from './rules/auto-run-file.rule.js';
import { availabilityRule } from './rules/availability.rule.js';
import { commandAllowlistRule } from './rules/command-allowlist.rule.js';
import { commandClassRule } from './rules/command-class.rule.js';
import { commandDenialRule } from './rules/command-denial.rule.js';
import { commandPatternsRule } from './rules/command-patterns.rule.js';
import { egressRule } from './rules/egress.rule.js';
import { operationRule } from './rules/operation.rule.js';
import { pathRule } from './rules/path.rule.js';
import { postureRule } from './rules/posture.rule.js';
import { sessionDenialRule } from './rules/session-denial.rule.js';
import { NO_RISK_ARGUMENTS, riskArgumentsOf, type RiskArguments } from './risk-arguments/risk-arguments.js';

/** Rules about the tool, with any arguments. The order is that of the shown results; people read the first denial. */
const toolRules: readonly Rule[] = [sessionDenialRule, availabilityRule, postureRule];

/** Rules about risk arguments follow, without results if there are no such arguments. */
const rules: readonly Rule[] = [
  ...toolRules,
  commandDenialRule,
  commandAllowlistRule,
  pathRule,
  autoRunFileRule,
  commandClassRule,
  commandPatternsRule,
  egressRule,
  operationRule,
  agentRule,
];

/**
 * Evaluates a call. Deny takes precedence over ask, ask over allow; the results of all rules are kept. An ask that trust in the tool
 * or its arguments makes unnecessary has `satisfiedBy`; a deny never has. Pure: the same facts give the same decision.
 *
 * @example
 * const { effect, reasons } = decide({ tool, args: { command: 'ls' }, posture, policy, grants, workspaceRoot: '/w' });
 */
export function decide(facts: CallFacts): Decision {
  const subjects = riskArgumentsOf(facts);
  const answers: RuleResult[] = [];
  for (const rule of subjects === NO_RISK_ARGUMENTS ? toolRules : rules) answers.push(...rule(facts, subjects));
  const reasons = reasonsOf(answers, facts, subjects);
  const risk = riskOfCall(facts.tool, subjects);
  if (reasons.some(({ effect }) => effect === 'deny')) return { effect: 'deny', reasons, risk };
  if (!reasons.some(isOpen)) return { effect: 'allow', reasons, risk };
  return { effect: 'ask', reasons, risk, trustOptions: trustOptionsFor(facts, subjects) };
}

function reasonsOf(answers: readonly RuleResult[], facts: CallFacts, subjects: RiskArguments): DecisionReason[] {
  const asked = answers.some(({ effect }) => effect === 'ask');
  const byTool = asked ? toolTrust(facts) : undefined;
  const byArguments = asked && byTool === undefined ? argumentTrust(facts, subjects) : undefined;
  const asksText = answers.some(({ effect, liftedBy }) => effect === 'ask' && liftedBy === 'text');
  const byText = byArguments !== undefined && asksText ? argumentTrust(facts, subjects, isExact) : undefined;
  const byLift = { arguments: byArguments, text: byText, tool: undefined, itself: undefined };
  return answers.map(({ axis, rule, effect, reason, liftedBy }) => {
    const satisfiedBy = effect === 'ask' && liftedBy !== 'itself' ? (byTool ?? byLift[liftedBy ?? 'tool']) : undefined;
    return satisfiedBy === undefined ? { axis, rule, effect, reason } : { axis, rule, effect, reason, satisfiedBy };
  });
}

function isOpen({ effect, satisfiedBy }: DecisionReason): boolean {
  return effect === 'ask' && satisfiedBy === undefined;
}
