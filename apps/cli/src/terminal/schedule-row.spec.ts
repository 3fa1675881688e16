import { describe, expect, it } from '@jest/globals';
import type { Schedule } from '#contracts';
import { matchingSchedules, scheduleRow } from './schedule-row.js';

const NOW = Date.parse('2026-11-30T08:00:00Z');
const ID = 'sch-7b0c54c6-5b5e-4b34-9d1c-0f5a7b1e2c3d';
const schedule = (more: Partial<Schedule>): Schedule =>
  ({ id: ID, everyMs: 30_000, nextRuns: ['2026-11-30T08:00:10Z'], call: { tool: 'shell', arguments: {} }, ...more }) as Schedule;

describe('the list of schedules at a terminal', () => {
  it.each<[string, Partial<Schedule>, string, string]>([
    ['every so often', {}, 'every 30s', 'in 10s'],
    ['every two hours and a half', { everyMs: 9_000_000, nextRuns: ['2026-11-30T10:00:00Z'] }, 'every 2h30m', 'in 2h'],
    [
      'by a cron expression',
      { everyMs: undefined, cron: '0 7 * * 1-5', timeZone: 'UTC', nextRuns: ['2026-12-02T07:00:00Z'] },
      '0 7 * * 1-5 UTC',
      'in 1d23h',
    ],
    ['once', { everyMs: undefined, at: '2026-11-30T08:00:10Z' }, 'once', 'in 10s'],
    ['never again', { nextRuns: [] }, 'every 30s', 'never'],
    ['paused', { paused: { reason: 'by Ada' } as Schedule['paused'] }, 'every 30s', 'paused: by Ada'],
  ])('shows for a schedule that runs %s when it is due in few characters', (_what, more, when, next) => {
    expect(scheduleRow(schedule(more), NOW, true).slice(0, 4)).toEqual(['7b1e2c3d', 'shell', when, next]);
  });

  it('writes whole ids of schedules into a pipe', () => expect(scheduleRow(schedule({}), NOW, false)[0]).toBe(ID));

  it('finds a schedule by its id or the end of its id, and lists several that match', () => {
    const other = { ...schedule({}), id: 'sch-00000000-0000-0000-0000-00007b1e2c3d' };
    const ids = (text: string) => matchingSchedules([schedule({}), other], text).map(({ id }) => id);
    expect(ids(ID)).toEqual([ID]);
    expect(ids('0F5A7b1e2c3d')).toEqual([ID]);
    expect(ids('7b1e2c3d')).toEqual([ID, other.id]);
    expect(ids('3d')).toEqual([]);
  });
});
