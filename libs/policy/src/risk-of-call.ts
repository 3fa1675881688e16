import type { Risk } from '#contracts';
import type { ToolFacts } from './call-facts.js';
import type { RiskArguments } from './risk-arguments/risk-arguments.js';
import { writesFiles } from './shell/extra-effects.js';
import { findDangerousCommand } from './shell/dangerous-command.js';
import { harmfulWords } from './shell/harmful-words.js';
import { isReadonly } from './shell/readonly.js';
import { riskOf } from './shell/risk-class.js';
import type { ParsedCommand, SubCommand } from './shell/sub-command.js';

const LEVELS: readonly Risk[] = ['low', 'medium', 'high'];
const OF_TIER = { read_only: 'low', side_effecting: 'medium', privileged: 'high' } as const;

/** Target of a redirection outside of the command's folder. */
const ELSEWHERE = /^[/~]|\.\.|\$/;

/**
 * Highest possible risk of a command, by the levels shown to people. High: by its class, with a dangerous construct, harmful
 * words, code that was not read, or a redirection out of its folder. Low: read-only. Medium: any other; a program in no list is
 * not high for that alone.
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
 * Highest possible risk of a call: the highest risk of its commands, or the risk of the tool's tier. A pure effect makes a
 * privileged tool medium. Policy settings do not count: the same call has the same risk for every agent, for comparison by
 * people. Pure.
 */
export function riskOfCall({ tier, effect }: Pick<ToolFacts, 'tier' | 'effect'>, { commands }: RiskArguments): Risk {
  if (commands.length > 0) return LEVELS[Math.max(...commands.map((command) => LEVELS.indexOf(riskOfCommand(command))))] ?? 'high';
  const risk = OF_TIER[tier];
  return risk === 'high' && effect === 'pure' ? 'medium' : risk;
}
