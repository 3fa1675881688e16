import type { Risk } from '#contracts';
import type { ToolFacts } from './call-facts.js';
import type { RiskArguments } from './risk-arguments/risk-arguments.js';
import { riskOf } from './shell/risk-class.js';
import type { ParsedCommand } from './shell/sub-command.js';

const LEVELS: readonly Risk[] = ['low', 'medium', 'high'];
const OF_TIER = { read_only: 'low', side_effecting: 'medium', privileged: 'high' } as const;

/** A command that cannot be read for certain may do anything. */
const levelOf = (command: ParsedCommand): number => LEVELS.indexOf(command.fault === undefined ? riskOf(command) : 'high');

/**
 * What a call may do at most: of commands, the highest class of each; else what the tier of the tool says. A second run that
 * changes nothing more makes a privileged tool medium. Settings of a policy do not count: the same call has the same risk
 * for every agent, so that people can compare. Pure.
 */
export function riskOfCall({ tier, effect }: Pick<ToolFacts, 'tier' | 'effect'>, { commands }: RiskArguments): Risk {
  if (commands.length > 0) return LEVELS[Math.max(...commands.map(levelOf))] ?? 'high';
  const risk = OF_TIER[tier];
  return risk === 'high' && effect === 'pure' ? 'medium' : risk;
}
