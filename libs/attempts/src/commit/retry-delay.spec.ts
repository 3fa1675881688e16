import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retryDelay } from './retry-delay.js';

describe('retryDelay', () => {
  it('delays a retry randomly between 0 and base · 2^failures, within both caps', () => {
    fc.assert(
      fc.property(
        fc.nat(10_000),
        fc.nat(60_000),
        fc.nat(60_000),
        fc.nat(40),
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        (backoffMs, maxBackoffMs, cap, failures, random) => {
          const policy = { maxAttempts: 20, backoffMs, maxBackoffMs };
          const ceiling = Math.min(cap, maxBackoffMs, backoffMs * 2 ** failures);
          const delay = retryDelay(policy, failures, cap, () => random);
          expect(Number.isInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThanOrEqual(ceiling);
          expect(retryDelay(policy, failures, cap, () => 0)).toBe(0);
          expect(retryDelay(policy, failures, cap, () => 1 - Number.EPSILON)).toBe(ceiling);
        },
      ),
    );
  });
});
