import type { CommandPolicy } from '#contracts';
import { commandRulesApply } from '../risk-arguments/risk-arguments.js';
import { actionOf } from '../shell/risk-class.js';
import { executableOf, type ParsedCommand, type ShellFeature, type SubCommand } from '../shell/sub-command.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis: the engines that know commands by their executables. `segments` takes chains and pipes of allowed programs
 * without expansions, redirections or background; `single` takes one allowed program and nothing around it. Each active engine
 * answers for itself; `unlisted` says whether what it does not want is asked for or denied.
 */
export const commandAllowlistRule: Rule = (facts, { commands }) => {
  if (!commandRulesApply(facts)) return [];
  const policy = facts.policy.commands;
  const answers: RuleResult[] = [];
  for (const command of commands) {
    if (policy.engines.includes('segments')) answers.push(answer('command-segments', segmentsFault(command, policy), policy));
    if (policy.engines.includes('single')) answers.push(answer('command-single', singleFault(command, policy), policy));
  }
  return answers;
};

function answer(rule: string, fault: string | undefined, { unlisted }: CommandPolicy): RuleResult {
  if (fault === undefined) return { axis: 'risk', rule, effect: 'allow', reason: 'every program of the command is in the allowlist' };
  const violation = rule === 'command-single' ? 'blocked by security policy (CommandNotAllowed)' : 'Security policy violation';
  return { axis: 'risk', rule, effect: unlisted, reason: `${violation}: ${fault}`, liftedBy: 'arguments' };
}

const SEGMENTS_REFUSE: readonly ShellFeature[] = [
  'substitution',
  'process substitution',
  'expansion',
  'prompt expansion',
  'evaluated subscript',
  'redirection',
  'background',
  'group',
  'function',
];
const SINGLE_REFUSES: readonly ShellFeature[] = [
  'pipe',
  'chain',
  'background',
  'group',
  'function',
  'substitution',
  'process substitution',
  'redirection',
];

function segmentsFault({ commands, features, fault }: ParsedCommand, { allowlist }: CommandPolicy): string | undefined {
  if (fault !== undefined) return `Command cannot be read: ${fault}`;
  if (commands.length === 0) return 'Command is empty';
  const refused = SEGMENTS_REFUSE.find((feature) => features.has(feature));
  if (refused !== undefined) return `Command has blocked syntax: ${refused}`;
  const written = commands.filter(({ inner, words }) => !inner && words.length > 0);
  const unlisted = written.find((command) => !isListed(command, allowlist));
  if (unlisted !== undefined) return `Command not in allowlist: ${unlisted.words[0]?.value ?? ''}`;
  const unsafe = commands.map(unsafeArgument).find((it) => it !== undefined);
  return unsafe === undefined ? undefined : `Command has an unsafe argument: ${unsafe}`;
}

function singleFault({ commands, features, fault }: ParsedCommand, { allowlist }: CommandPolicy): string | undefined {
  if (fault !== undefined) return `only a single allowlisted command is permitted, and this one cannot be read: ${fault}`;
  const refused = SINGLE_REFUSES.find((feature) => features.has(feature));
  const written = commands.filter(({ inner, words }) => !inner && words.length > 0);
  if (refused !== undefined) return `only a single allowlisted command is permitted, without ${refused}`;
  const [command] = written;
  if (command === undefined || written.length > 1) return 'only a single allowlisted command is permitted';
  return isListed(command, allowlist) ? undefined : `'${command.words[0]?.value ?? ''}' is not in shell allowlist`;
}

function isListed(command: SubCommand, allowlist: readonly string[]): boolean {
  const name = executableOf(command);
  if (name === undefined || name === '') return false;
  const written = command.words[0]?.value ?? '';
  return allowlist.some((entry) => entry === '*' || (entry.includes('/') ? entry === written : entry === name));
}

/** Arguments by which an allowed program runs others. */
function unsafeArgument(command: SubCommand): string | undefined {
  const name = executableOf(command);
  const args = command.words.slice(1).map(({ value }) => value);
  if (name === 'tee') return 'tee';
  if (name === 'find') return args.find((arg) => /^-(?:exec|ok)/.test(arg));
  if (name !== 'git') return undefined;
  const action = actionOf(command, name);
  return args.find((arg) => arg.startsWith('-c')) ?? (action === 'config' || action === 'alias' ? action : undefined);
}
