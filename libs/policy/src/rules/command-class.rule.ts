import type { CallFacts } from '../call-facts.js';
import { riskOfCommand } from '../risk-of-call.js';
import type { RuleResult, Rule } from '../rule.js';
import { harmfulWords } from '../shell/harmful-words.js';
import { programsOf, riskOf, type CommandRisk } from '../shell/risk-class.js';
import type { ParsedCommand } from '../shell/sub-command.js';

/**
 * Second axis: each command has a class. High is refused everywhere when the policy blocks it; else high and medium are asked
 * for in sessions that are not fully autonomous. Reasons name the risk of the whole command, which the decision has too, and no
 * risk where that of its programs is another one.
 */
export const commandClassRule: Rule = (facts, { commands }) =>
  facts.policy.commands.classify ? commands.map((command) => answer(command, facts)) : [];

function answer(command: ParsedCommand, { policy, posture }: CallFacts): RuleResult {
  const classOfAll = riskOf(command);
  const said = { axis: 'risk', rule: 'command-class', liftedBy: 'arguments' } as const;
  if (classOfAll === 'high' && policy.commands.blockHighRisk) return { ...said, effect: 'deny', reason: 'High-risk commands are blocked' };
  const risk = riskOfCommand(command);
  const harmful =
    risk === 'low'
      ? ''
      : harmfulWords(command)
          .map((text) => `; ${text}`)
          .join('');
  const mayAsk = posture.autonomy !== 'full' && posture.permissionMode !== 'allow';
  if (!mayAsk || classOfAll === 'low' || (classOfAll === 'medium' && !policy.commands.askMediumRisk))
    return { ...said, effect: 'allow', reason: `the command's risk is ${risk}${harmful}` };
  const kind = risk === classOfAll ? KINDS[risk] : 'Command';
  return { ...said, effect: 'ask', reason: `${kind} requires approval${programsWith(classOfAll, command)}${harmful}` };
}

const KINDS = { low: 'Command', medium: 'Medium-risk command', high: 'High-risk command' } as const;

/** The programs that make the class, where it has any. */
function programsWith(risk: CommandRisk, command: ParsedCommand): string {
  const programs = programsOf(command, risk).join(', ');
  return programs === '' ? '' : `: ${programs}`;
}
