import { expect, it } from '@jest/globals';
import { durationText } from './duration.js';
import { DURATION_STEPS } from './duration-steps.js';

it('marks an axis of durations in whole seconds below a minute, and in whole minutes above', () => {
  expect(DURATION_STEPS).toEqual(DURATION_STEPS.toSorted((a, b) => a - b));
  for (const step of DURATION_STEPS)
    for (const mark of [1, 2, 3, 4, 5].map((each) => each * step))
      expect(durationText(mark)).toMatch(mark < 60_000 ? /^[\d.]+ m?s$/ : step >= 60_000 ? /^\d+ [mhd]( \d+ [mh])?$/ : /./);
});
