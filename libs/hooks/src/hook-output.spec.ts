import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseHookOutput } from './hook-output.js';
import { HookFailure } from './hook-failure.js';
import { textOf } from './hook-input.js';

const read = (text: string, more: { strict?: boolean; truncated?: boolean } = {}) =>
  parseHookOutput('before', { text, strict: false, truncated: false, ...more });

describe('what a hook wrote', () => {
  it('reads a verdict of a hook from JSON with a known word, feedback from any other text, and nothing from empty output', () => {
    expect(read('{"decision":"deny","reason":"no"}')).toEqual({ decision: 'deny', reason: 'no' });
    expect(read('{"arguments":{"a":1}}\n')).toEqual({ arguments: { a: 1 } });
    expect(read('all is well\n')).toEqual({ feedback: 'all is well' });
    expect(read('{"errors":0}')).toEqual({ feedback: '{"errors":0}' });
    expect(read(' \n')).toEqual({});
  });

  it('fails for hook output that resembles a verdict but is invalid, with the expected form', () => {
    expect(() => read('{"decision":"block"}')).toThrow('expected allow or deny');
    expect(() => read('{"decision":"deny","why":"no"}')).toThrow(/why/);
    expect(() => read('{"decision":"deny"')).toThrow('malformed JSON');
    expect(() => read('{"decision":"deny","reason":"xx', { truncated: true })).toThrow('maxOutputBytes');
    expect(() => parseHookOutput('after', { text: '{"arguments":{}}', strict: false, truncated: false })).toThrow(
      'only a hook before the call',
    );
  });

  it('requires JSON of a hook that answers a request, of all shapes only an object', () => {
    for (const text of ['ok', '[]', '"allow"', 'null', 'true']) expect(() => read(text, { strict: true })).toThrow(HookFailure);
  });

  it('reads no "allow" by accident: any text is a verdict, feedback or a failure, and a refusal stays one', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        try {
          const { decision, feedback } = read(text);
          return decision !== undefined || feedback === text.trim() || text.trim() === '' || text.includes('{');
        } catch (error) {
          return error instanceof HookFailure;
        }
      }),
    );
    fc.assert(fc.property(fc.string(), (reason) => read(JSON.stringify({ decision: 'deny', reason })).decision === 'deny'));
  });
});

describe('the text of an update', () => {
  it('joins the text items of an update by line feeds [HK-06]', () => {
    const text = (value: string) => ({ type: 'text' as const, text: value });
    expect(textOf([text('a'), { type: 'json', json: 1 }, text('b')])).toBe('a\nb');
    expect(textOf([])).toBe('');
  });
});
