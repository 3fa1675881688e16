import { describe, expect, it } from '@jest/globals';
import { AnomalySettings } from '#contracts';
import { SyscallAnomalyDetector } from './syscall-anomaly.js';

const DENIED = 'audit: seccomp denied syscall=ptrace';
const detector = (settings: Partial<AnomalySettings> = {}) =>
  new SyscallAnomalyDetector(AnomalySettings.parse({ enabled: true, ...settings }));

describe('SyscallAnomalyDetector', () => {
  it('raises one alert a line, with every reason [PP-104]', () => {
    expect(detector().inspect('sudo make', `building\n${DENIED}\ndone`, 0)).toEqual([
      {
        kinds: ['unknown_syscall', 'denied_syscall'],
        command: 'sudo',
        syscall: 'ptrace',
        sample: DENIED,
        deniedLastMinute: 1,
        eventsLastMinute: 1,
      },
    ]);
  });

  it.each([
    ['type=SECCOMP msg=audit(1): syscall=101', 'ptrace'],
    ['type=SECCOMP msg=audit(1): syscall=0x65', 'ptrace'],
    ['Bad system call: SYS_mount', 'mount'],
    ['syscall __NR_mount', 'mount'],
    ['syscall=9999', 'syscall#9999'],
  ])('reads the system call of %j', (line, syscall) => {
    expect(detector().inspect('x', line, 0)[0]?.syscall).toBe(syscall);
  });

  it('raises no alert about ordinary calls, and about output without system calls', () => {
    expect(detector().inspect('x', 'syscall=read\nauditing the books\nall is well', 0)).toEqual([]);
    expect(detector({ strict: false, baseline: ['ptrace'] }).inspect('x', DENIED, 0)).toEqual([]);
  });

  it('repeats no alert within the cooldown, and raises a bounded number of alerts a minute [PP-104]', () => {
    const cooling = detector({ maxDeniedPerMinute: 1_000 });
    const at = (now: number) => cooling.inspect('x', DENIED, now).length;
    expect([at(0), at(29_999), at(30_000)]).toEqual([1, 0, 1]);
    const many = detector();
    const lines = Array.from({ length: 40 }, (_, n) => `syscall=odd${n}`).join('\n');
    expect(many.inspect('x', lines, 0)).toHaveLength(10);
    expect(many.inspect('x', 'syscall=another', 61_000)).toHaveLength(1);
  });

  it('reports too many system calls, denied or in all, within a minute [PP-104]', () => {
    const rates = detector({ strict: false, baseline: ['ptrace'] });
    const kinds = Array.from({ length: 120 }, () => rates.inspect('x', DENIED, 0))
      .flat()
      .flatMap((alert) => alert.kinds);
    expect(kinds).toEqual(['denied_rate_exceeded', 'event_rate_exceeded']);
  });

  it('cuts the sample of an alert at 240 characters [PP-104]', () => {
    expect(detector().inspect('x', `syscall=ptrace ${'y'.repeat(999)}`, 0)[0]?.sample).toHaveLength(240);
  });
});
