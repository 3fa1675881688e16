import type { Risk } from '#contracts';
import type { ToolFacts } from './call-facts.js';
import type { RiskArguments } from './risk-arguments/risk-arguments.js';
import { besidesWords, writesFiles } from './shell/besides-words.js';
import { findDangerousCommand } from './shell/dangerous-command.js';
import { isReadonly, reads } from './shell/readonly.js';
import { riskOf, riskOfOne } from './shell/risk-class.js';
import { executableOf, type ParsedCommand, type SubCommand } from './shell/sub-command.js';

const LEVELS: readonly Risk[] = ['low', 'medium', 'high'];
const OF_TIER = { read_only: 'low', side_effecting: 'medium', privileged: 'high' } as const;

/** What is not known may do anything: programs that are in no list, and commands that may do something else than they say. */
function riskOfCommand(command: ParsedCommand): Risk {
  if (isReadonly(command)) return 'low';
  const isKnown = findDangerousCommand(command) === undefined && riskOf(command) !== 'high' && command.commands.every(isListed);
  return isKnown ? 'medium' : 'high';
}

/** Reads, is of the medium class, or only sets variables of the shell. */
function isListed(command: SubCommand): boolean {
  if (reads(command)) return true;
  if (writesFiles(command) || besidesWords(command) !== '') return false;
  return command.words.length === 0 || (executableOf(command) === command.words[0]?.value && riskOfOne(command) === 'medium');
}

/**
 * What a call may do at most: of commands, the highest risk of each; else what the tier of the tool says. A second run that
 * changes nothing more makes a privileged tool medium. Settings of a policy do not count: the same call has the same risk
 * for every agent, so that people can compare. Pure.
 */
export function riskOfCall({ tier, effect }: Pick<ToolFacts, 'tier' | 'effect'>, { commands }: RiskArguments): Risk {
  if (commands.length > 0) return LEVELS[Math.max(...commands.map((command) => LEVELS.indexOf(riskOfCommand(command))))] ?? 'high';
  const risk = OF_TIER[tier];
  return risk === 'high' && effect === 'pure' ? 'medium' : risk;
}
