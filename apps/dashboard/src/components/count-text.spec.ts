import { expect, it } from '@jest/globals';
import { countText } from './count-text.js';

it('counts one thing as one, and any other number as many', () => {
  expect([0, 1, 2, 2_000].map((count) => countText(count, 'more call'))).toEqual([
    '0 more calls',
    '1 more call',
    '2 more calls',
    '2,000 more calls',
  ]);
  expect(countText(2, 'batch', 'batches')).toBe('2 batches');
});
