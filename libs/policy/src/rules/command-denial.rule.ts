import type { CommandPolicy } from '#contracts';
import { commandPattern } from '../patterns/command-pattern.js';
import { catastropheIn } from '../shell/catastrophe.js';
import { plainText, type CommandReading, type SubCommand } from '../shell/sub-command.js';
import type { Answer, Rule } from '../rule.js';

/**
 * Second axis: commands that never run, in any posture, approved or not.
 * - what destroys a machine (`rm -rf /`, mkfs, `dd if=`, `kill -9 -1`, a fork bomb), wherever it stands in the command;
 * - texts that the engine `deny-patterns` refuses, as they stand;
 * - sub-commands that a denied pattern matches; a denied pattern that is no regular expression denies everything.
 */
export const commandDenialRule: Rule = ({ policy }, { commands }) =>
  commands.flatMap((command) => {
    const reason = catastrophe(command) ?? deniedText(command, policy.commands) ?? deniedPattern(command, policy.commands);
    const answer: Answer =
      reason === undefined
        ? { axis: 'risk', rule: 'command-denial', effect: 'allow', reason: 'the command has nothing that is denied by name' }
        : { axis: 'risk', rule: 'command-denial', effect: 'deny', reason };
    return [answer];
  });

function catastrophe(command: CommandReading): string | undefined {
  const found = catastropheIn(command);
  return found === undefined ? undefined : blocked(found);
}

function deniedText({ source }: CommandReading, { engines, denyPatterns }: CommandPolicy): string | undefined {
  if (!engines.includes('deny-patterns')) return undefined;
  const found = denyPatterns.find((text) => source.includes(text));
  return found === undefined ? undefined : blocked(found);
}

function deniedPattern({ source, commands }: CommandReading, { deniedCommands }: CommandPolicy): string | undefined {
  for (const pattern of deniedCommands) {
    const matches = commandPattern(pattern);
    if (matches === undefined) return `Invalid regex pattern in deniedCommands: ${pattern}`;
    if (matches(source) || commands.some((it) => spellings(it).some(matches))) return `Command matches the denied pattern: ${pattern}`;
  }
  return undefined;
}

/** A denied pattern shall hold however the same command is written. */
function spellings(command: SubCommand): string[] {
  const plain = plainText(command);
  const [first = ''] = plain.split(' ', 1);
  const base = first.slice(first.lastIndexOf('/') + 1);
  return [command.text, plain, `${base}${plain.slice(first.length)}`];
}

function blocked(found: string): string {
  return `Command blocked by safety policy: contains '${found}'. This pattern is denied for safety.`;
}
