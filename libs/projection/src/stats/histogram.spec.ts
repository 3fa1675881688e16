import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addHistogram, addTime, percentilesOf, type Histogram } from './histogram.js';

const times = fc.array(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 30 * 24 * 3_600_000 })), {
  minLength: 1,
  maxLength: 200,
});

function histogramOf(values: readonly number[]): Histogram {
  const histogram: Histogram = {};
  for (const ms of values) addTime(histogram, ms);
  return histogram;
}

describe('percentiles', () => {
  it('are at most 3 % off, or a twentieth of a millisecond', () => {
    fc.assert(
      fc.property(times, (values) => {
        const sorted = values.toSorted((a, b) => a - b);
        const { count, p50, p95, p99 } = percentilesOf(histogramOf(values));
        expect(count).toBe(values.length);
        for (const [share, told] of [
          [0.5, p50],
          [0.95, p95],
          [0.99, p99],
        ] as const) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
          expect(Math.abs((told ?? NaN) - exact)).toBeLessThanOrEqual(exact * 0.03 + 0.05);
        }
      }),
    );
  });

  it('come out alike however the times were spread over places', () => {
    fc.assert(
      fc.property(times, times, (here, there) => {
        const together = histogramOf(here);
        addHistogram(together, histogramOf(there));
        expect(percentilesOf(together)).toEqual(percentilesOf(histogramOf([...here, ...there])));
      }),
    );
  });
});
