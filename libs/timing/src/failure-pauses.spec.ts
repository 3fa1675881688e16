import { describe, expect, it } from '@jest/globals';
import { FailurePauses } from './failure-pauses.js';

describe('FailurePauses', () => {
  it('keeps a key out longer after each failure, and no other key', () => {
    let now = 0;
    const pauses = new FailurePauses({ firstMs: 2_000, maxMs: 60_000 }, () => now);
    const pauseMs = () => {
      const begun = pauses.begin('a');
      expect(pauses.leftMs('a')).toBe(begun);
      now += begun;
      expect(pauses.leftMs('a')).toBe(0);
      return begun;
    };
    expect([pauseMs(), pauseMs(), pauseMs(), pauseMs(), pauseMs(), pauseMs()]).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    pauses.begin('a');
    expect(pauses.leftMs('b')).toBe(0);
    now += 600_001;
    pauses.begin('b');
    expect(pauseMs()).toBe(2_000);
  });

  it('shortens pauses with jitter by up to half, by chance', () => {
    const chances = [0, 0.5, 1];
    const random = () => chances.shift() ?? 0;
    const pauses = new FailurePauses({ firstMs: 2_000, maxMs: 60_000, jitter: true }, () => 0, random);
    expect([pauses.begin('a'), pauses.begin('a'), pauses.begin('a')]).toEqual([1_000, 3_000, 8_000]);
  });

  it('begins with the shortest pause again after a failed key has worked', () => {
    const pauses = new FailurePauses({ firstMs: 1_000, maxMs: 60_000 }, () => 0);
    expect([pauses.begin('a'), pauses.begin('a')]).toEqual([1_000, 2_000]);
    pauses.forget('a');
    expect([pauses.leftMs('a'), pauses.begin('a')]).toEqual([0, 1_000]);
  });
});
