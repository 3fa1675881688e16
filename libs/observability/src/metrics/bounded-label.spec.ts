import { describe, expect, it } from '@jest/globals';
import { boundedLabel } from './bounded-label.js';

describe('boundedLabel', () => {
  it('passes known values of a label, and replaces all others by "other"', () => {
    const label = boundedLabel({ isKnown: (value) => value === 'shell' });
    expect([label('shell'), label('rm -rf'), label('shell')]).toEqual(['shell', 'other', 'shell']);
  });

  it('passes the first values of a label up to the limit if none is known', () => {
    const label = boundedLabel({ limit: 2 });
    expect([label('a'), label('b'), label('c'), label('a')]).toEqual(['a', 'b', 'other', 'a']);
  });

  it('limits known values of a label too', () => {
    const label = boundedLabel({ isKnown: () => true, limit: 1 });
    expect([label('a'), label('b')]).toEqual(['a', 'other']);
  });
});
