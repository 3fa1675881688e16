import { describe, expect, it } from '@jest/globals';
import { dueText, timingText } from './timing-text.js';

describe('when a schedule is due', () => {
  it('describes a schedule in words, or by its expression if words do not suffice', () => {
    expect(timingText({ cron: '0 7 * * 1-5' })).toBe('At 07:00, Monday through Friday');
    expect(timingText({ cron: '*/10 * * * * *' })).toBe('Every 10 seconds');
    expect(timingText({ cron: 'whenever' })).toBe('whenever');
    expect(timingText({ everyMs: 5_400_000 })).toBe('Every 1 h 30 m');
  });

  it('shows the due times of a schedule in its time zone', () => {
    expect(dueText('2026-03-29T05:00:00Z', 'Europe/Berlin')).toMatch(/Sun, Mar 29.*07:00:00/);
    expect(dueText('2026-03-28T06:00:00Z', 'Europe/Berlin')).toMatch(/Sat, Mar 28.*07:00:00/);
  });
});
