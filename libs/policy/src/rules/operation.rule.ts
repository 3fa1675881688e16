import type { CallFacts } from '../call-facts.js';
import { operationTrust } from '../grants/argument-trust.js';
import { settingsOf } from '../grants/tool-settings.js';
import { isUnattended } from '../risk-arguments/risk-arguments.js';
import { deniedOperation, type OperationArgument } from '../risk-arguments/operation.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis: operations of services among the arguments. Denies matches of `deniedServices` of the tool's settings; allows
 * matches of `allowedServices` and operations that only read by the tool's description; asks for approval of all others.
 */
export const operationRule: Rule = (facts, { operations }) => operations.map((operation) => answer(operation, facts));

function answer(operation: OperationArgument, facts: CallFacts): RuleResult {
  const said = { axis: 'risk', rule: 'operation' } as const;
  const denied = deniedOperation(settingsOf(facts.tool, facts.policy).deniedServices ?? [], operation);
  if (denied !== undefined) return { ...said, effect: 'deny', reason: `Operation ${operation.text} matches the denied pattern: ${denied}` };
  const trust = operationTrust(operation, facts);
  if (trust !== undefined) return { ...said, effect: 'allow', reason: trust };
  if (isUnattended(facts.posture)) return { ...said, effect: 'allow', reason: 'this posture asks nothing about operations' };
  return { ...said, effect: 'ask', reason: `no allowed pattern matches the operation ${operation.text}`, liftedBy: 'arguments' };
}
