import { describe, expect, it } from '@jest/globals';
import { backoffMs } from './backoff-ms.js';

describe('backoffMs', () => {
  it('doubles the pause with each failure up to the longest', () => {
    const range = { firstMs: 100, maxMs: 5_000 };
    expect([1, 2, 3, 6, 7, 2_000].map((failures) => backoffMs(failures, range))).toEqual([100, 200, 400, 3_200, 5_000, 5_000]);
  });
});
