import { expect, it } from '@jest/globals';
import { nextMeasureMs } from './command-quota.js';

const room = (files: number, bytes = 1e9) => ({ files, bytes });

it.each([
  ['every two seconds while that is quick', { tookMs: 5, sinceMs: 2_000, before: room(500_000), left: room(490_000) }, 2_000],
  ['less often where that is slow', { tookMs: 1_000, sinceMs: 2_000, before: room(500_000), left: room(500_000) }, 20_000],
  ['when its files last no longer', { tookMs: 1_000, sinceMs: 2_000, before: room(500_000), left: room(400_000) }, 8_000],
  ['when its bytes last no longer', { tookMs: 1_000, sinceMs: 2_000, before: room(9, 9e9), left: room(9, 6e9) }, 4_000],
  ['half of the time at most', { tookMs: 5_000, sinceMs: 5_000, before: room(500_000), left: room(100) }, 5_000],
  [
    'less often without a limit, too',
    { tookMs: 1_000, sinceMs: 2_000, before: room(Infinity, Infinity), left: room(Infinity, Infinity) },
    20_000,
  ],
])('measures the workspace of a running command %s', (_what, last, expected) => {
  expect(nextMeasureMs(last)).toBe(expected);
});
