import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { headerText, pairsOf, pathText, type Style, type Written } from './parameter-style.js';

const written = (style: Style, explode: boolean, more: Partial<Written> = {}): Written => ({ name: 'color', style, explode, ...more });
const queryOf = (it: Written, value: unknown) =>
  pairsOf(it, value)
    .map(([name, text]) => `${name}=${text}`)
    .join('&');

const LIST = ['blue', 'black', 'brown'];
const OBJECT = { R: 100, G: 200, B: 150 };

describe('the styles of parameters, by the examples of OpenAPI 3', () => {
  it.each([
    ['simple', false, 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
    ['simple', true, 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
    ['label', false, '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
    ['label', true, '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
    ['matrix', false, ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
    ['matrix', true, ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ] as const)('writes the style %s in a path, explode %s', (style, explode, one, list, object) => {
    const it = written(style, explode);
    expect([pathText(it, 'blue'), pathText(it, LIST), pathText(it, OBJECT)]).toEqual([one, list, object]);
  });

  it.each([
    ['form', false, LIST, 'color=blue,black,brown'],
    ['form', true, LIST, 'color=blue&color=black&color=brown'],
    ['form', false, OBJECT, 'color=R,100,G,200,B,150'],
    ['form', true, OBJECT, 'R=100&G=200&B=150'],
    ['spaceDelimited', false, LIST, 'color=blue%20black%20brown'],
    ['pipeDelimited', false, LIST, 'color=blue%7Cblack%7Cbrown'],
    ['deepObject', true, OBJECT, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
    ['deepObject', true, { a: { b: ['c', 'd'] } }, 'color%5Ba%5D%5Bb%5D=c&color%5Ba%5D%5Bb%5D=d'],
    ['form', true, [], ''],
    ['form', true, 'a&b=c d', 'color=a%26b%3Dc%20d'],
  ] as const)('writes the style %s in a query, explode %s: %j', (style, explode, value, text) => {
    expect(queryOf(written(style, explode), value)).toBe(text);
  });

  it('keeps reserved characters if the document allows them, except those that end the value', () => {
    expect(queryOf(written('form', true, { allowReserved: true }), '/a?b:c&d=e#f+g')).toBe('color=/a?b:c%26d=e%23f%2Bg');
  });

  it('keeps the characters of headers unchanged', () => {
    expect(headerText(written('simple', false), ['a b', 'c/d'])).toBe('a b,c/d');
  });
});

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).map((it) => it.toWellFormed());
const name = fc.string({ unit: fc.constantFrom('a', 'b', '[', ']', '&', '=', ' ', 'é'), minLength: 1, maxLength: 5 });

describe('a decoder reads back', () => {
  it('reads back every text of a query by URLSearchParams, for any name', () => {
    fc.assert(
      fc.property(name, fc.array(text, { minLength: 1 }), (parameter, values) => {
        const pairs = pairsOf({ name: parameter, style: 'form', explode: true }, values);
        const query = new URLSearchParams(pairs.map(([key, it]) => `${key}=${it}`).join('&'));
        expect([...query]).toEqual(values.map((value) => [parameter, value]));
      }),
    );
  });

  it.each([
    ['form', ','],
    ['spaceDelimited', '%20'],
    ['pipeDelimited', '%7C'],
  ] as const)('reads back lists in the style %s without the delimiter in an item', (style, delimiter) => {
    const item = text.filter((it) => !/[ |]/.test(it));
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), (values) => {
        const [[key, joined] = ['', '']] = pairsOf(written(style, false), values);
        expect([key, joined.split(delimiter).map(decodeURIComponent)]).toEqual(['color', values]);
      }),
    );
  });

  it.each([
    ['simple', false, (it: string) => it.split(',')],
    [
      'matrix',
      true,
      (it: string) =>
        it
          .slice(1)
          .split(';')
          .map((part) => part.slice('color='.length)),
    ],
    ['matrix', false, (it: string) => it.slice(';color='.length).split(',')],
    ['label', false, (it: string) => it.slice(1).split(',')],
  ] as const)('reads back lists in the path style %s, explode %s: one segment, for any texts', (style, explode, decode) => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (values) => {
        const segment = pathText(written(style, explode), values);
        expect(segment).not.toMatch(/[/?#\\]/);
        expect(decode(segment).map(decodeURIComponent)).toEqual(values);
      }),
    );
  });

  it('reads back fields of deep objects', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1 }), text), (value) => {
        const pairs = pairsOf(written('deepObject', true), value);
        const fields = pairs.map(([key, it]) => [/^color\[(.*)\]$/.exec(decodeURIComponent(key))?.[1], decodeURIComponent(it)]);
        expect(Object.fromEntries(fields)).toEqual({ ...value });
      }),
    );
  });
});
