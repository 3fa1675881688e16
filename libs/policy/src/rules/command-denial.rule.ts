import type { CommandPolicy } from '#contracts';
import type { CallFacts } from '../call-facts.js';
import { commandPatterns, spellings, TOO_LONG } from '../patterns/command-patterns.js';
import { possibleMatch } from '../patterns/possible-match.js';
import { findDestructiveCommand } from '../shell/destructive-command.js';
import type { ParsedCommand } from '../shell/sub-command.js';
import { unreadPart } from '../shell/unread-command.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis: commands that never run, in any posture, approved or not.
 * - what destroys a machine (`rm -rf /`, mkfs, `dd if=`, `kill -9 -1`, a fork bomb), wherever it is in the command;
 * - texts that the engine `deny-patterns` refuses, as they stand;
 * - sub-commands that a denied pattern matches; a denied pattern that is no regular expression denies everything, and so does
 *   any denied pattern a command whose programs are not all known by name (`$k delete pod`, `curl x | sh`)
 * - sub-commands in which an expansion stands where a denied pattern begins with plain text (`kubectl $x pod`).
 */
export const commandDenialRule: Rule = (facts, { commands }) =>
  commands.flatMap((command) => {
    const reason = destructive(command) ?? deniedText(command, facts.policy.commands) ?? deniedPattern(command, facts);
    const answer: RuleResult =
      reason === undefined
        ? { axis: 'risk', rule: 'command-denial', effect: 'allow', reason: 'the command has nothing that is denied by name' }
        : { axis: 'risk', rule: 'command-denial', effect: 'deny', reason };
    return [answer];
  });

function destructive(command: ParsedCommand): string | undefined {
  const found = findDestructiveCommand(command);
  return found === undefined ? undefined : blocked(found);
}

function deniedText({ source }: ParsedCommand, { engines, denyPatterns }: CommandPolicy): string | undefined {
  if (!engines.includes('deny-patterns')) return undefined;
  const found = denyPatterns.find((text) => source.includes(text));
  return found === undefined ? undefined : blocked(found);
}

/** A denied pattern holds however the same command is written. */
function deniedPattern(reading: ParsedCommand, { policy, patternsBy = 'operator' }: CallFacts): string | undefined {
  const { deniedCommands } = policy.commands;
  if (deniedCommands.length === 0) return undefined;
  const { faults, overBudget: tooMuch, matching } = commandPatterns(deniedCommands, patternsBy, reading);
  const [fault] = faults;
  if (fault !== undefined) return `Invalid regex pattern in deniedCommands: ${deniedCommands[fault.index] ?? ''} (${fault.message})`;
  if (tooMuch) return `${TOO_LONG} deniedCommands`;
  const unread = unreadPart(reading);
  if (unread !== undefined) return `Command cannot be compared with deniedCommands: ${unread}`;
  for (const text of new Set([reading.source, ...reading.commands.flatMap(spellings)])) {
    const [pattern] = matching(text);
    if (pattern !== undefined) return `Command matches the denied pattern: ${pattern}`;
  }
  const possible = possibleMatch(deniedCommands, reading);
  return possible === undefined
    ? undefined
    : `Command may match the denied pattern ${possible.pattern}: only running it tells what follows "${possible.known}"; write it out`;
}

function blocked(found: string): string {
  return `Command blocked by safety policy: contains '${found}'. This pattern is denied for safety.`;
}
