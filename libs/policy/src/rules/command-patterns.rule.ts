import type { CallFacts } from '../call-facts.js';
import { commandTrust } from '../grants/argument-trust.js';
import { commandPatterns, TOO_LONG } from '../patterns/command-patterns.js';
import { findDangerousCommand } from '../shell/dangerous-command.js';
import type { ParsedCommand } from '../shell/sub-command.js';
import { commandRulesApply } from '../risk-arguments/risk-arguments.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis, the engine `rules`: every sub-command must match an allowing pattern, or be read-only if the policy allows such
 * commands. Commands with effects beyond their words need approval despite any pattern.
 */
export const commandPatternsRule: Rule = (facts, { commands }) =>
  facts.policy.commands.engines.includes('rules') ? commands.map((command) => answer(command, facts)) : [];

function answer(command: ParsedCommand, facts: CallFacts): RuleResult {
  const said = { axis: 'risk', rule: 'command-patterns' } as const;
  const trust = commandTrust(command, facts);
  if (trust !== undefined) return { ...said, effect: 'allow', reason: trust };
  if (facts.policy.commands.denyByDefault)
    return { ...said, effect: 'deny', reason: tooLong(command, facts) ?? 'Command not in allowed list' };
  if (!commandRulesApply(facts)) return { ...said, effect: 'allow', reason: 'this posture asks nothing about commands' };
  const danger = findDangerousCommand(command);
  if (danger !== undefined) return { ...said, effect: 'ask', reason: `Dangerous command: ${danger}`, liftedBy: 'tool' };
  const reason = tooLong(command, facts) ?? 'no allowed pattern matches every part of the command';
  return { ...said, effect: 'ask', reason, liftedBy: 'arguments' };
}

function tooLong(command: ParsedCommand, { policy, patternsBy = 'operator' }: CallFacts): string | undefined {
  const { overBudget } = commandPatterns(policy.commands.allowedCommands, patternsBy, command);
  return overBudget ? `${TOO_LONG} allowedCommands` : undefined;
}
