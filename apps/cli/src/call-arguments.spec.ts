import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { coerceArguments, isPositional, readArguments } from './call-arguments.js';

const stdin = () => '{"from": "stdin"}';
const read = (...words: string[]) => readArguments(words, stdin);
const closed = { input: { properties: { n: { type: 'integer' }, text: { type: 'string' }, any: {} }, additionalProperties: false } };

describe('the arguments of a command line', () => {
  it('reads arguments of a command line as texts, JSON values, one object, or from stdin', () => {
    expect(read('a=1=2', 'b:={"c":[null]}').values).toEqual({ a: '1=2', b: { c: [null] } });
    expect(read('{"a": 1}').values).toEqual({ a: 1 });
    expect(read('-').values).toEqual({ from: 'stdin' });
    expect(read().values).toEqual({});
  });

  it('converts arguments of a command line to the types of the schema, and leaves texts if it takes texts or has no type', () => {
    expect(coerceArguments(read('n=5', 'text=5', 'any=5', 'other=true'), closed)).toEqual({ n: 5, text: '5', any: '5', other: true });
    expect(coerceArguments(read('n=5'), undefined)).toEqual({ n: '5' });
    expect(coerceArguments(read('n=5'), { input: { type: 'object' } })).toEqual({ n: '5' });
  });

  it('states what was expected of arguments of a command line that cannot be parsed', () => {
    for (const words of [['nonsense'], ['=x'], ['a=1', 'a=2'], ['a:=[1'], ['{"a":1}', 'b=2'], ['[1]'], ['{"a"']])
      expect(() => read(...words)).toThrow(/expected|is not JSON|twice|alone/i);
  });

  it('takes the first word as the value of the only required argument, unless it is a whole JSON list', () => {
    for (const word of ['ls', '[ -f a ] && ls', '[[ -f a ]]']) expect(isPositional([word])).toBe(true);
    for (const word of ['["ls"]', ' [1]', '{"a": 1}', '-', 'a=1']) expect(isPositional([word])).toBe(false);
    expect(() => read('["ls"]')).toThrow('JSON, but not an object');
  });

  it('keeps any text of a command line unchanged', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(read(`name=${text}`).values).toEqual({ name: text });
        expect(read(`name:=${JSON.stringify(text)}`).values).toEqual({ name: text });
      }),
    );
  });
});
