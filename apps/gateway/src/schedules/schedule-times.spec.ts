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
  it('keeps the local time of a cron expression across a change of the clocks', () => {
    expect(shown({ cron: '0 7 * * *', timeZone: 'Europe/Berlin' })).toEqual([
      '2026-03-29T05:00:00.000Z',
      '2026-03-30T05:00:00.000Z',
      '2026-03-31T05:00:00.000Z',
    ]);
    expect(shown({ cron: '*/10 * * * * *' }, 2)).toEqual(['2026-03-28T12:00:10.000Z', '2026-03-28T12:00:20.000Z']);
  });

  it('computes due times of an interval that are later than the moment and one interval apart', () => {
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

  it('returns a single moment as the only due time, and none once it is over', () => {
    expect(shown({ at: '2026-03-28T13:00:00+00:00' })).toEqual(['2026-03-28T13:00:00.000Z']);
    expect(shown({ at: '2026-03-28T12:00:00Z' })).toEqual([]);
  });
});

const DAY_MS = 86_400_000;
const FIRST = Date.UTC(2026, 0, 1);
const LAST = Date.UTC(2031, 0, 1);

/** Clock changes of a zone from 2026 to 2030, with the offsets before and after in ms. */
function changesOf(timeZone: string): { readonly at: number; readonly before: number; readonly after: number }[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const offset = (at: number) => {
    const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(format.format(at)) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  };
  const found = [];
  for (let day = FIRST; day < LAST; day += 7 * DAY_MS) {
    const [before, after] = [offset(day), offset(day + 7 * DAY_MS)];
    if (before === after) continue;
    let [low, high] = [day, day + 7 * DAY_MS];
    while (high - low > 60_000) {
      const middle = low + Math.floor((high - low) / 120_000) * 60_000;
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    found.push({ at: high, before, after });
  }
  return found;
}

const ZONES = Intl.supportedValuesOf('timeZone').map((timeZone) => ({ timeZone, all: changesOf(timeZone) }));

describe('a daily time when the clocks change', () => {
  it('runs a skipped time once, later by the length of the gap, and a repeated one once, the first, in all time zones from 2026 to 2030', () => {
    const wrong: unknown[] = [];
    let changes = 0;
    for (const { timeZone, all } of ZONES)
      for (const { at, before, after } of all) {
        changes++;
        // Local time, represented as UTC, in the middle of the skipped or repeated hour.
        const local = at + before + (after - before) / 2;
        const cron = `${new Date(local).getUTCMinutes()} ${new Date(local).getUTCHours()} * * *`;
        const [first, second] = nextTimes(of({ cron, timeZone }), at - 12 * 3_600_000, 2);
        if (first !== local - before || second !== local + DAY_MS - after)
          wrong.push([
            timeZone,
            cron,
            ...[first, local - before, second, local + DAY_MS - after].map((it) => new Date(it ?? 0).toISOString()),
          ]);
      }
    expect(changes).toBeGreaterThan(1_000);
    expect(wrong).toEqual([]);
  });

  it('runs an hourly schedule once an hour across changes of the clocks, in all time zones from 2026 to 2030', () => {
    const wrong: unknown[] = [];
    for (const { timeZone, all } of ZONES)
      for (const { at, before, after } of all.slice(0, 4)) {
        if (Math.abs(after - before) !== 3_600_000) continue;
        const times = nextTimes(of({ cron: '30 * * * *', timeZone }), at - 3 * 3_600_000, 6);
        if (times.some((time, index) => index > 0 && time - (times[index - 1] ?? 0) !== 3_600_000)) wrong.push([timeZone, at, times]);
      }
    expect(wrong).toEqual([]);
  });
});

/**
 * Expected due times at some minutes of some hours: a skipped local time moves forward by the gap, a repeated one counts at its
 * first moment.
 */
function meant(minutes: readonly number[], hours: readonly number[], change: { at: number; before: number; after: number }): number[] {
  const { at, before, after } = change;
  const midnight = Math.floor((at + before) / DAY_MS) * DAY_MS;
  const times = [-1, 0, 1, 2].flatMap((day) =>
    hours.flatMap((hour) =>
      minutes.map((minute) => {
        const local = midnight + day * DAY_MS + (hour * 60 + minute) * 60_000;
        return local < at + Math.max(before, after) ? local - before : local - after;
      }),
    ),
  );
  return [...new Set(times)].toSorted((a, b) => a - b);
}

describe('several times an hour or a day when the clocks change', () => {
  /** Zones by clock change; zones with the same changes count as one. */
  const CHANGES = new Map(
    ZONES.flatMap(({ timeZone, all }) => all.slice(0, 4).map((change) => [JSON.stringify(change), { timeZone, ...change }] as const)),
  );
  const STEPS = 8;
  const inChain = (timing: Timing, from: number) => {
    const times: number[] = [];
    for (let after = from; times.length < STEPS; after = times.at(-1) ?? 0) times.push(...nextTimes(timing, after, 1));
    return times;
  };

  it('lists several times an hour in order across changes of the clocks, each intended one once, in all time zones', () => {
    const wrong: unknown[] = [];
    for (const { timeZone, ...change } of CHANGES.values()) {
      const hour = new Date(change.at + Math.min(change.before, change.after)).getUTCHours();
      const hours = [hour, (hour + 1) % 24].toSorted((a, b) => a - b);
      for (const [minutes, some] of [
        [[15, 45], [hour]],
        [[15, 45], hours],
        [[10, 20, 35, 45], hours],
        [[5], hours],
      ] as const) {
        const timing = of({ cron: `${minutes.join()} ${some.join()} * * *`, timeZone });
        const from = change.at - 3 * 3_600_000;
        const right = meant(minutes, some, change)
          .filter((time) => time > from)
          .slice(0, STEPS);
        const seen = { chain: inChain(timing, from).slice(0, right.length), list: nextTimes(timing, from, STEPS).slice(0, right.length) };
        const text = (times: readonly number[]) => times.map((time) => new Date(time).toISOString()).join(' ');
        if (text(seen.chain) !== text(right) || text(seen.list) !== text(right))
          wrong.push([timeZone, timing.cron, text(seen.chain), text(seen.list), text(right)]);
      }
    }
    expect(CHANGES.size).toBeGreaterThan(50);
    expect(wrong).toEqual([]);
  });

  it.each(['10,40 * * * *', '*/20 * * * *', '*/10 */2 * * *', '15,45 * 2 * * *', '*/30 * * * * *'])(
    'computes the same times for %s one by one as in a list across changes of the clocks, ascending',
    (cron) => {
      const wrong: unknown[] = [];
      for (const { timeZone, at } of CHANGES.values())
        for (const from of [at - 3_700_000, at - 1_000, at + 1_000_000]) {
          const chain = inChain(of({ cron, timeZone }), from);
          const isOrdered = chain.every((time, index) => time > (chain[index - 1] ?? from));
          if (!isOrdered || chain.join() !== nextTimes(of({ cron, timeZone }), from, STEPS).join()) wrong.push([timeZone, at, from, chain]);
        }
      expect(wrong).toEqual([]);
    },
  );

  it('moves a yearly time within a gap of the clocks on the same day, and the next one a year later', () => {
    const [first, second] = shown({ cron: '30 2 29 3 *', timeZone: 'Europe/Berlin' }, 2);
    expect([first, second]).toEqual(['2026-03-29T01:30:00.000Z', '2027-03-29T00:30:00.000Z']);
  });

  it('runs each second of a skipped hour, one by one', () => {
    const timing = of({ cron: '* * 2 * * *', timeZone: 'Europe/Berlin' });
    const from = Date.parse('2026-03-29T01:30:00Z');
    expect(nextTimes(timing, from, 2)).toEqual([from + 1_000, from + 2_000]);
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
    ['/cron', { cron: '7 * * *' }],
    ['/cron', { cron: '7' }],
    ['/cron', { cron: '0 0 0 1 1 * *' }],
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

  it('refuses any wrong timing with a ProblemError', () => {
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

it('searches ten years for the due times of a cron expression, in steps of weeks: one that is due later is refused', () => {
  const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format') ?? {};
  let formatted = 0;
  const counted = function (this: Intl.DateTimeFormat): unknown {
    formatted += 1;
    return format.get?.call(this);
  };
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', { ...format, get: counted });
  const rare = of({ cron: '0 0 * 2 1#5', timeZone: 'Africa/Casablanca' });
  expect(nextTimes(rare, NOW, 5)).toEqual([]);
  expect(() => assertTiming(rare, NOW)).toThrow('no time of the next ten years');
  expect(shown({ cron: '0 0 29 2 *' }, 5)).toEqual(['2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z', '2036-02-29T00:00:00.000Z']);
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', format);
  expect(formatted).toBeLessThan(4_000);
});

it.each(['0 0 31 2,4,6,9,11 *', '59 59 23 31 4,6,9,11 *', '0 0 30-31 2 *'])(
  'refuses the cron expression %s, whose day does not exist in its months',
  (cron) => {
    expect(() => assertTiming(of({ cron, timeZone: 'Europe/Berlin' }), NOW)).toThrow(/no time of the next ten years|Invalid explicit day/);
  },
);

it.each([
  ['0 0 31 2,4,12 *', '1970-12-31T00:00:00.000Z'],
  ['0 0 29 2 *', '1972-02-29T00:00:00.000Z'],
  ['0 0 L 2 *', '1970-02-28T00:00:00.000Z'],
  ['0 0 31 2,4 1', '1970-02-02T00:00:00.000Z'],
])('finds the next time of the cron expression %s', (cron, time) => {
  expect(new Date(nextTimes(of({ cron }), 0, 1)[0] ?? 0).toISOString()).toBe(time);
});
