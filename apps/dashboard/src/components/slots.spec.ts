import { expect, it } from '@jest/globals';
import { rangeOfSlots } from './slots.js';

it('shows the last slot whole', () => {
  expect(rangeOfSlots([100, 110, 120])).toEqual([100, 130]);
  expect(rangeOfSlots([100])).toEqual([100, 101]);
});
