import { describe, expect, it } from '@jest/globals';
import { countOutside, type HotPart } from './hot-window.js';

const NOW_MS = 10_000_000;
const WINDOW = { maxAgeMs: 60_000, maxCalls: 100 };

/** Segments of 10 events and 40 ended calls, by the ages of their last events, oldest first. */
const segments = (...ages: number[]) =>
  ages.map((ageMs, index): HotPart => ({ manifest: { fromSeq: index * 10 + 1, lastTime: NOW_MS - ageMs }, endedCalls: 40 }));

describe('the hot window', () => {
  it.each([
    ['older than its age', [70_000, 61_000, 60_000], {}, 2],
    ['beyond its number of calls', [50_000, 40_000, 30_000, 20_000], {}, 2],
    ['older than 15 s where Redis is full', [50_000, 15_000, 14_999], { isFull: true }, 2],
    ['up to an event that is to be erased', [50_000, 40_000], { eraseSeq: 10 }, 1],
    ['up to an event that is to be erased, of a segment that goes on behind it', [50_000, 40_000], { eraseSeq: 11 }, 2],
  ])('leaves out of the hot window segments %s', (_which, ages, changes, count) => {
    expect(countOutside(segments(...ages), WINDOW, { nowMs: NOW_MS, isFull: false, ...changes })).toBe(count);
  });

  it('trims everything outside of the hot window in order, and nothing younger than 15 s', () => {
    expect(countOutside(segments(60_000, 50_000), WINDOW, { nowMs: NOW_MS, isFull: false })).toBe(0);
    expect(countOutside(segments(10_000, 70_000), WINDOW, { nowMs: NOW_MS, isFull: true, eraseSeq: 99 })).toBe(0);
    expect(countOutside(segments(14_000, 14_000, 14_000, 14_000), WINDOW, { nowMs: NOW_MS, isFull: false })).toBe(0);
  });
});
