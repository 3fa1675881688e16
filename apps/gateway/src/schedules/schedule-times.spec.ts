import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ProblemError } from '#contracts';
import { assertTiming, nextTimes, type Timing } from './schedule-times.js';

const NOW = Date.parse('2026-03-28T12:00:00Z');
const of = (timing: Partial<Timing>): Timing => ({
  cron: undefined,
  everyMs: undefined,
  at: undefined,
  timeZone: 'UTC',
  anchorMs: NOW,
  ...timing,
});
const shown = (timing: Partial<Timing>, count = 3) => nextTimes(of(timing), NOW, count).map((time) => new Date(time).toISOString());

describe('the next due times', () => {
  it('keeps the local time of a cron expression over a change of the clocks', () => {
    expect(shown({ cron: '0 7 * * *', timeZone: 'Europe/Berlin' })).toEqual([
      '2026-03-29T05:00:00.000Z',
      '2026-03-30T05:00:00.000Z',
      '2026-03-31T05:00:00.000Z',
    ]);
    expect(shown({ cron: '*/10 * * * * *' }, 2)).toEqual(['2026-03-28T12:00:10.000Z', '2026-03-28T12:00:20.000Z']);
  });

  it('gives the same due times of an interval whenever they are asked for, after the moment, and one interval apart', () => {
    const every = fc.integer({ min: 1_000, max: 10_000_000 });
    fc.assert(
      fc.property(every, fc.integer({ min: -1_000, max: 1_000_000_000 }), (everyMs, later) => {
        const [first = 0, second = 0] = nextTimes(of({ everyMs }), NOW + later, 2);
        expect([(first - NOW) % everyMs, second - first]).toEqual([0, everyMs]);
        expect(first > NOW + later && (first - everyMs <= NOW + later || first === NOW + everyMs)).toBe(true);
        expect(nextTimes(of({ everyMs }), first - 1, 1)).toEqual([first]);
      }),
    );
  });

  it('gives one moment as its only due time, or none when it is over', () => {
    expect(shown({ at: '2026-03-28T13:00:00+00:00' })).toEqual(['2026-03-28T13:00:00.000Z']);
    expect(shown({ at: '2026-03-28T12:00:00Z' })).toEqual([]);
  });
});

describe('a timing that cannot be', () => {
  const WRONG: [string, Partial<Timing>][] = [
    ['', {}],
    ['', { cron: '* * * * *', everyMs: 1_000 }],
    ['/cron', { cron: 'every day' }],
    ['/cron', { cron: '61 * * * *' }],
    ['/cron', { cron: '0 0 30 2 *' }],
    ['/cron', { cron: '@daily' }],
    ['/timeZone', { cron: '* * * * *', timeZone: 'Mars/Base' }],
    ['/at', { at: '2020-01-01T00:00:00Z' }],
  ];
  it.each(WRONG)('refuses a timing that cannot be at %s: %j', (pointer, timing) => {
    const refused = () => {
      try {
        assertTiming(of(timing), NOW);
      } catch (error) {
        return error as ProblemError;
      }
    };
    expect(refused()?.facts.errors?.[0]?.pointer).toBe(pointer);
  });

  it('refuses a wrong timing with a ProblemError, whatever the expression is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (cron) => {
        try {
          assertTiming(of({ cron }), NOW);
        } catch (error) {
          expect((error as ProblemError).code).toBe('invalid_request');
        }
      }),
    );
  });
});
