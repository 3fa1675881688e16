import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isExactNumberText, parseExactJson } from './exact-json.js';

describe('parseExactJson', () => {
  it('reads any integer exactly: as a number, or as a text of its digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (integer) => {
        const value = parseExactJson(`{"id":[${integer}]}`) as { id: [string | number] };
        expect(String(value.id[0])).toBe(String(integer));
      }),
    );
  });

  it('reads JSON that JavaScript wrote as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['1e400', '1e400'],
    ['-1e-400', '-1e-400'],
    ['9007199254740993', '9007199254740993'],
    ['1152921504606846976', '1152921504606846976'],
    ['1.50', 1.5],
    ['1E2', 100],
    ['1e22', 1e22],
    ['-0.0', -0],
    ['0e99', 0],
    ['"12345678901234567890"', '12345678901234567890'],
    ['"\\"12345678901234567890"', '"12345678901234567890'],
  ])('reads %s as exact JSON', (text, value) => {
    expect(parseExactJson(text)).toBe(value);
  });

  it.each(['01234567890123456789', '1234567890123456789x', '-', '12345678901234567890e', '{"a":12345678901234567890'])(
    'refuses %s as invalid JSON',
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError);
    },
  );

  it('ignores one byte order mark at the beginning, and no other', () => {
    expect(parseExactJson('\ufeff{"a":"\ufeff"}')).toEqual({ a: '\ufeff' });
    expect(parseExactJson('\ufeff\r\n[12345678901234567890]')).toEqual(['12345678901234567890']);
    for (const text of ['\ufeff\ufeff{}', '{}\ufeff', ' \ufeff{}', '\ufeff']) expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it('reads a text of several megabytes', () => {
    const long = `${'\\"'.repeat(1_000_000)}${'a'.repeat(4_000_000)}`;
    expect(parseExactJson(`["${long}",12345678901234567890]`)).toEqual([JSON.parse(`"${long}"`), '12345678901234567890']);
  });

  it('reads numbers of a million digits, most of them zeros, in linear time', () => {
    const zeros = '0'.repeat(1_000_000);
    expect(parseExactJson(`[1.${zeros}1,1${zeros}1,1.${zeros},${'10'.repeat(500_000)}1]`)).toEqual([
      `1.${zeros}1`,
      `1${zeros}1`,
      1,
      `${'10'.repeat(500_000)}1`,
    ]);
  });

  it('finds texts of numbers that a double cannot hold', () => {
    for (const text of ['725653563933458433', '725653563933458400', '-9223372036854775808', '1e400', '0.1234567890123456789'])
      expect(isExactNumberText(text)).toBe(true);
    for (const text of ['5', '1.5', '9007199254740991', '0725653563933458433', '+725653563933458433', ' 725653563933458433', 'x', 7])
      expect(isExactNumberText(text)).toBe(false);
  });
});
