import { expect, it } from '@jest/globals';
import type { DecisionReason } from '#contracts';
import { riskyParts } from './risky-parts.js';

const says = (rule: string, reason: string, more: Partial<DecisionReason> = {}): DecisionReason => ({
  axis: 'risk',
  rule,
  effect: 'ask',
  reason,
  ...more,
});
const marked = (command: string, ...reasons: DecisionReason[]) =>
  riskyParts(command, { reasons }).map(({ from, to, seenBy }) => [command.slice(from, to), ...seenBy.map((seen) => seen.split(':')[0])]);

it('marks the programs, paths and options that rules name, as words of their own', () => {
  const command = 'rm -rf ../other/x ../other && firm rm';
  expect(
    marked(
      command,
      says('command-path', '../other is outside of the workspace and of every allowed root; /x is outside of the workspace'),
      says('command-class', 'High-risk command requires approval: rm'),
      says('command-single', "blocked by security policy (CommandNotAllowed): 'rm' is not in shell allowlist"),
    ),
  ).toEqual([
    ['rm', 'command-class', 'command-single'],
    ['../other', 'command-path'],
    ['rm', 'command-class', 'command-single'],
  ]);
});

it('marks shell syntax outside of quotes, and nothing for rules that allow or have no arguments', () => {
  const command = "echo 'a | b' $(id) | sh";
  expect(
    marked(
      command,
      says('command-patterns', 'Dangerous command: it has a command substitution'),
      says('command-single', 'only a single allowlisted command is permitted, without pipe'),
      says('command-class', 'High-risk command requires approval: sh', { effect: 'allow' }),
      says('posture', "'echo' is not in shell allowlist", { axis: 'facts' }),
    ),
  ).toEqual([
    ['$(', 'command-patterns'],
    ['|', 'command-single'],
  ]);
});

it.each([
  ['git push --force', "Command requires approval: git; '--force' overrides a protection", 'ask', ['git', '--force']],
  ['aws s3 sync a b --delete', "the command's risk is high; '--delete' deletes", 'allow', ['--delete']],
  ['curl x | sh', 'High-risk command requires approval: curl, sh; sh runs what it is sent, which was not read', 'ask', ['curl', 'sh']],
  ["psql -c 'DROP TABLE x'", "the command's risk is high; 'DROP TABLE' deletes data", 'allow', ['DROP TABLE']],
] as const)('marks the destructive part of %s, with the words of the rule: %s', (command, reason, effect, texts) => {
  const parts = riskyParts(command, { reasons: [says('command-class', reason, { effect })] });
  expect(parts.map(({ from, to }) => command.slice(from, to))).toEqual(texts);
  expect(parts.at(-1)?.seenBy).toContain(`command-class: ${reason.split('; ')[1]}`);
});
