import { describe, expect, it } from '@jest/globals';
import type { Approval, DecisionReason } from '#contracts';
import { plainReason, plainReasons } from './plain-reasons.js';

describe('plain reasons', () => {
  it.each([
    ["Security policy violation: 'npm' is not in shell allowlist", 'npm is not among the commands that run unasked.'],
    ['Security policy violation: Command not in allowlist: npm', 'npm is not among the commands that run unasked.'],
    [
      "tool 'shell' requires approval to escalate from workspace-write to danger-full-access",
      'shell needs full access, and the session may only write its workspace.',
    ],
    [
      "High-risk command requires approval: rm; '-rf' removes folders with their content, or asks nothing",
      "The command can do great harm (rm): '-rf' removes folders with their content, or asks nothing.",
    ],
    [
      "Command requires approval: git; '--force' overrides a protection",
      "The command changes things (git): '--force' overrides a protection.",
    ],
    ['Medium-risk command requires approval: git', 'The command changes things (git).'],
    ['the hook wants it', 'The hook wants it.'],
  ])('rewords the reason %j as: %j', (reason, plain) => expect(plainReason(reason)).toBe(plain));

  it('begins plain reasons with the arguments, without duplicates, and keeps reasons of unknown rules', () => {
    const by = (axis: DecisionReason['axis'], reason: string, more: Partial<DecisionReason> = {}): DecisionReason => ({
      axis,
      rule: 'rule',
      effect: 'ask',
      reason,
      ...more,
    });
    const reasons = [
      by('facts', 'of the tool'),
      by('risk', 'of the arguments'),
      by('risk', 'High-risk command requires approval: rm', { rule: 'command-class' }),
      by('risk', 'allowed', { effect: 'allow' }),
      by('risk', 'trusted', { satisfiedBy: 'grant' }),
    ];
    const approval = { reasons: ['of the tool', 'of a release before'] } as Approval;
    expect(plainReasons({ decision: { effect: 'ask', reasons }, approval })).toEqual([
      'The command can do great harm (rm).',
      'Of the arguments.',
      'Of the tool.',
      'Of a release before.',
    ]);
  });
});
