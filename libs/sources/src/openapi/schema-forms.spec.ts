import { describe, expect, it } from '@jest/globals';
import { boundKeyword } from './schema-forms.js';

const long = (count: number) => 'a'.repeat(count);

describe('keywords of schemas in bounds', () => {
  it.each(['const', 'default', 'examples'])('keeps repeated items of %s', (key) => {
    expect(boundKeyword(key, [1, 1, 2])).toEqual([1, 1, 2]);
  });

  it.each(['enum', 'required', 'type'])('drops repeated items of %s', (key) => {
    expect(boundKeyword(key, ['a', 'a', 'b'])).toEqual(['a', 'b']);
  });

  it.each(['pattern', 'const', 'default', 'format'])('drops too long %s, since a part of it would be another value', (key) => {
    expect([boundKeyword(key, long(2_000)), boundKeyword(key, long(2_001))]).toEqual([long(2_000), undefined]);
  });

  it.each(['title', 'description', '$comment'])('cuts too long %s', (key) => {
    expect(boundKeyword(key, long(2_001))).toBe(long(2_000));
  });
});
