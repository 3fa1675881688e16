import { describe, expect, it } from '@jest/globals';
import { ExactNumber, exactJsonText, replaceNumberTexts } from './exact-number.js';

const DIGITS = '12345678901234567890';

describe('numbers beyond a double', () => {
  it('reads a schema with more branches than a function accepts arguments', () => {
    const branches = Array.from({ length: 500_000 }, () => ({ type: 'integer' }));
    expect(replaceNumberTexts({ id: DIGITS }, { properties: { id: { anyOf: branches } } }, Number)).toEqual({ id: Number(DIGITS) });
  });

  it.each([
    ['7.25653563933458433e17', '725653563933458433'],
    ['-7.25653563933458433E+17', '-725653563933458433'],
    ['1.5e400', '1.5e400'],
    ['1.23456789012345678901e3', '1.23456789012345678901e3'],
    ['725653563933458433', '725653563933458433'],
  ])('prints an integer without an exponent, and other numbers unchanged: %s', (text, written) => {
    const schema = { properties: { id: { type: 'number' } } };
    expect(exactJsonText(replaceNumberTexts({ id: text }, schema, (digits) => new ExactNumber(digits)))).toBe(`{"id":${written}}`);
  });
});
