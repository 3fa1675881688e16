import type { CallFacts } from '../call-facts.js';
import { exactCommandTrust } from '../grants/argument-trust.js';
import { lexicalPath } from '../patterns/lexical-path.js';
import { autoRunReasonAt, autoRunTrust } from '../auto-run/auto-run-path.js';
import { isUnattended, type PathArgument, type RiskArguments } from '../risk-arguments/risk-arguments.js';
import type { RuleResult, Rule } from '../rule.js';
import { autoRunWrites, writtenWords } from '../auto-run/auto-run-writes.js';
import { buildFileReason } from '../auto-run/build-files.js';
import { isReadonly } from '../shell/readonly.js';
import type { ParsedCommand } from '../shell/sub-command.js';

/**
 * Second axis: files that a later command runs by itself, such as `.git/config`. Writing one is asked for also where writing in
 * the workspace is not. Only trust that names the file makes the question unnecessary: trust in a tool that writes, or in a folder
 * around the file, means files, not programs. Trust in a tool that runs commands means programs. In unattended sessions the rule
 * answers where an engine confines commands in every posture, and as that engine does; where any command runs, there is nothing
 * to protect.
 */
export const autoRunFileRule: Rule = (facts, { paths, commands }) => [
  ...answer(
    paths.flatMap((path) => pathReason(path, commands, facts)),
    commands.length > 0 ? 'tool' : 'itself',
    facts,
  ),
  ...answer(
    commands.flatMap((command) => commandReasons(command, facts)),
    'tool',
    facts,
  ),
];

function answer(reasons: readonly string[], liftedBy: 'tool' | 'itself', facts: CallFacts): RuleResult[] {
  if (reasons.length === 0) return [];
  const said = { axis: 'risk', rule: 'auto-run-file' } as const;
  const reason = [...new Set(reasons)].slice(0, MAX_NAMED).join('; ');
  const effect = effectOf(facts);
  return effect === 'allow'
    ? [{ ...said, effect, reason: `${reason}; this posture asks nothing` }]
    : [{ ...said, effect, reason, liftedBy }];
}

const MAX_NAMED = 10;

function pathReason({ path, access }: PathArgument, commands: RiskArguments['commands'], facts: CallFacts): string[] {
  // The folder that a command starts in is only read, but what the command names begins there.
  if (access === 'read' && commands.every(isReadonly)) return [];
  const read = lexicalPath(path, facts.workspaceRoot);
  if (!read.ok) return [];
  const reason = autoRunReasonAt(read.absolute, facts);
  if (reason === undefined || autoRunTrust(read.absolute, facts) !== undefined) return [];
  return [`${path} can make later commands run something: ${reason}`];
}

function commandReasons(command: ParsedCommand, facts: CallFacts): readonly string[] {
  const reasons = [...autoRunWrites(command), ...buildWrites(command, facts)];
  return reasons.length === 0 || exactCommandTrust(command, facts) !== undefined ? [] : reasons;
}

function buildWrites(command: ParsedCommand, facts: CallFacts): readonly string[] {
  return writtenWords(command).flatMap((word) => {
    const reason = buildFileReason(word, facts);
    return reason === undefined ? [] : [`${word} can make later commands run something: ${reason}`];
  });
}

function effectOf({ posture, policy: { commands } }: CallFacts): RuleResult['effect'] {
  if (!isUnattended(posture)) return 'ask';
  if (commands.enforce !== 'always') return 'allow';
  const isListed = commands.engines.includes('segments') || commands.engines.includes('single');
  const isMatched = commands.engines.includes('rules');
  if ((isListed && commands.unlisted === 'deny') || (isMatched && commands.denyByDefault)) return 'deny';
  return isListed || isMatched ? 'ask' : 'allow';
}
