import { describe, expect, it } from '@jest/globals';
import { processLimitWarning, type ProcessLimitFacts } from './process-limit-warning.js';

const FACTS: ProcessLimitFacts = { platform: 'linux', hasControlGroups: false, isRoot: false, sandbox: 'host', asOtherUser: false };
const warningOf = (facts: Partial<ProcessLimitFacts>) => processLimitWarning({ ...FACTS, ...facts });

describe('the warning about the limit of processes', () => {
  it.each<[string, Partial<ProcessLimitFacts>]>([
    ['control groups', { hasControlGroups: true }],
    ['control groups, as root', { hasControlGroups: true, isRoot: true }],
    ['the user namespace of bubblewrap', { sandbox: 'bubblewrap' }],
    ['bubblewrap with another user, as root', { sandbox: 'bubblewrap', isRoot: true, asOtherUser: true }],
  ])('says nothing where the kernel holds the processes of a command: by %s', (_how, facts) => {
    expect(warningOf(facts)).toBeUndefined();
  });

  it.each<[string, Partial<ProcessLimitFacts>, RegExp]>([
    ['the host', {}, /not enforced by the kernel: commands run on the host.*\. SANDBOX=bubblewrap enforces it$/],
    ['the host, as root', { isRoot: true }, /the worker runs as root .*\. Run it as another user, or give it a writable cgroup/],
    ['bubblewrap, as root', { isRoot: true, sandbox: 'bubblewrap' }, /the worker runs as root .*\. Run it as another user/],
  ])('says that the kernel does not hold the processes of a command, why, and what helps: on %s', (_where, facts, message) => {
    expect(warningOf(facts)).toMatch(message);
  });
});
