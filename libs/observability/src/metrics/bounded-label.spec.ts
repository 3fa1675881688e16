import { describe, expect, it } from '@jest/globals';
import { boundedLabel } from './bounded-label.js';

describe('boundedLabel', () => {
  it('lets known values of a label pass and turns every other into "other"', () => {
    const label = boundedLabel({ isKnown: (value) => value === 'shell' });
    expect([label('shell'), label('rm -rf'), label('shell')]).toEqual(['shell', 'other', 'shell']);
  });

  it('lets the first values of a label pass up to the limit when nothing is known', () => {
    const label = boundedLabel({ limit: 2 });
    expect([label('a'), label('b'), label('c'), label('a')]).toEqual(['a', 'b', 'other', 'a']);
  });

  it('bounds known values of a label too', () => {
    const label = boundedLabel({ isKnown: () => true, limit: 1 });
    expect([label('a'), label('b')]).toEqual(['a', 'other']);
  });
});
