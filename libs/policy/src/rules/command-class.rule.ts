import type { CallFacts } from '../call-facts.js';
import { programsOf, riskOf } from '../shell/risk-class.js';
import type { ParsedCommand } from '../shell/sub-command.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis: each command has a class. High is refused everywhere when the policy blocks it; else high and medium are asked
 * for in sessions that are not fully autonomous.
 */
export const commandClassRule: Rule = (facts, { commands }) =>
  facts.policy.commands.classify ? commands.map((command) => answer(command, facts)) : [];

function answer(command: ParsedCommand, { policy, posture }: CallFacts): RuleResult {
  const risk = riskOf(command);
  const said = { axis: 'risk', rule: 'command-class', liftedBy: 'arguments' } as const;
  if (risk === 'high' && policy.commands.blockHighRisk) return { ...said, effect: 'deny', reason: 'High-risk commands are blocked' };
  const asks = posture.autonomy !== 'full' && posture.permissionMode !== 'allow';
  if (asks && risk === 'high') return { ...said, effect: 'ask', reason: asking('High', command) };
  if (asks && risk === 'medium' && policy.commands.askMediumRisk) return { ...said, effect: 'ask', reason: asking('Medium', command) };
  return { ...said, effect: 'allow', reason: `the command's risk is ${risk}` };
}

/** Names the programs that make the class, where it has any. */
function asking(risk: 'High' | 'Medium', command: ParsedCommand): string {
  const programs = programsOf(command, risk === 'High' ? 'high' : 'medium').join(', ');
  return `${risk}-risk command requires approval${programs === '' ? '' : `: ${programs}`}`;
}
