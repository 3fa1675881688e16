import { describe, expect, it } from '@jest/globals';
import { replaceNumberTexts } from './exact-number.js';

const DIGITS = '12345678901234567890';

describe('numbers beyond a double', () => {
  it('reads a schema of more branches than a function takes arguments', () => {
    const branches = Array.from({ length: 500_000 }, () => ({ type: 'integer' }));
    expect(replaceNumberTexts({ id: DIGITS }, { properties: { id: { anyOf: branches } } }, Number)).toEqual({ id: Number(DIGITS) });
  });
});
