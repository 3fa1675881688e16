import type { Risk } from '#contracts';
import type { ToolFacts } from './call-facts.js';
import type { RiskArguments } from './risk-arguments/risk-arguments.js';
import { writesFiles } from './shell/besides-words.js';
import { findDangerousCommand } from './shell/dangerous-command.js';
import { harmfulWords } from './shell/harmful-words.js';
import { isReadonly } from './shell/readonly.js';
import { riskOf } from './shell/risk-class.js';
import type { ParsedCommand, SubCommand } from './shell/sub-command.js';

const LEVELS: readonly Risk[] = ['low', 'medium', 'high'];
const OF_TIER = { read_only: 'low', side_effecting: 'medium', privileged: 'high' } as const;

/** Of a redirection: a file that is not in the folder of the command. */
const ELSEWHERE = /^[/~]|\.\.|\$/;

/**
 * What a command may do at most, in the word that people read. High: its class, what destroys or was not read, what may do something
 * else than its words say. Low: it only reads. Else medium: that a program is in no list makes nothing high.
 */
export function riskOfCommand(command: ParsedCommand): Risk {
  if (isReadonly(command)) return 'low';
  if (riskOf(command) === 'high' || findDangerousCommand(command) !== undefined) return 'high';
  return harmfulWords(command).length > 0 || command.commands.some(writesElsewhere) ? 'high' : 'medium';
}

function writesElsewhere(command: SubCommand): boolean {
  return writesFiles(command) && command.redirects.some(({ target }) => target.dynamic || ELSEWHERE.test(target.value));
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
