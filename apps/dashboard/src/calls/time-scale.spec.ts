import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { timeScale } from './time-scale.js';

const stretch = fc.tuple(fc.nat(1_000_000), fc.nat(10_000)).map(([from, length]) => ({ from, to: from + length }));

describe('the time scale of a session', () => {
  it('draws calls in order of time from edge to edge of the session', () => {
    fc.assert(
      fc.property(fc.array(stretch, { minLength: 1, maxLength: 30 }), fc.nat(1_010_000), fc.nat(1_010_000), (stretches, a, b) => {
        const { place } = timeScale(stretches);
        expect(place(Math.min(a, b))).toBeLessThanOrEqual(place(Math.max(a, b)) + 1e-9);
        expect(place(Math.min(...stretches.map(({ from }) => from)))).toBeCloseTo(0);
        expect(place(a)).toBeGreaterThanOrEqual(0);
        expect(place(a)).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });

  it('shortens long idle times and marks them; short ones stay', () => {
    const scale = timeScale([
      { from: 0, to: 1000 },
      { from: 1050, to: 2000 },
      { from: 3_602_000, to: 3_603_000 },
    ]);
    expect(scale.idles).toMatchObject([{ from: 2000, to: 3_602_000 }]);
    expect(scale.idles[0]!.right - scale.idles[0]!.left).toBeLessThan(0.05);
    expect(scale.place(1000)).toBeCloseTo(0.32, 1);
  });
});
