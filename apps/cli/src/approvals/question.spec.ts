import { Writable } from 'node:stream';
import { expect, it } from '@jest/globals';
import type { Call, DecisionReason } from '#contracts';
import type { CallSubjects } from '../terminal/call-subjects.js';
import { Terminal } from '../terminal/terminal.js';
import { questionLines } from './question.js';

const SUBJECTS: CallSubjects = { line: () => '', of: () => [], chosen: (_tool, args) => ({ args, defaults: [] }) };
const terminal = new Terminal(new Writable(), new Writable(), {});

function why(reasons: readonly Pick<DecisionReason, 'axis' | 'rule' | 'reason'>[]): string[] {
  const call = {
    id: '01JB0000000000000000MSWNFSST',
    tool: 'shell',
    arguments: { command: 'npm test' },
    decision: { effect: 'ask', reasons: reasons.map((reason) => ({ ...reason, effect: 'ask' })) },
    approval: { reasons: reasons.map(({ reason }) => reason), expiresAt: new Date().toISOString() },
  } as unknown as Call;
  return questionLines(call, SUBJECTS, { terminal }).filter((line) => /Why|more/.test(line));
}

it('prints at a terminal two reasons why a person is asked, in the words of the dashboard, and where to read the others', () => {
  const first = {
    axis: 'risk',
    rule: 'allowlist',
    reason: "blocked by security policy (CommandNotAllowed): 'npm' is not in shell allowlist",
  } as const;
  const second = {
    axis: 'facts',
    rule: 'tier',
    reason: "tool 'shell' is privileged and requires approval in a supervised session",
  } as const;
  const third = { axis: 'grants', rule: 'trust', reason: 'no allowed pattern matches every part of the command' } as const;
  const sentences = [
    '  Why: npm is not among the commands that run unasked.',
    '  Why: shell is privileged, and the session is supervised.',
  ];
  expect(why([first, second])).toEqual(sentences);
  expect(why([first, second, third])).toEqual([...sentences, '       and 1 more reason: toolyard show 01JB0000000000000000MSWNFSST']);
});
