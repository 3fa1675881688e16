import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { repairJson } from './repair-json.js';

const meant = (text: string): unknown => JSON.parse(repairJson(text)?.json ?? 'null');

describe('JSON that a model wrote wrongly', () => {
  it.each([
    ['a comma too many', '{"path":"a",}'],
    ['single quotes', `{'path':'a'}`],
    ['names without quotes', '{path: "a"}'],
    ['a comment', '{"path":"a" /* the file */}'],
    ['an apostrophe in a comment', `{"path":"a", // don't read\n}`],
    ['a Markdown fence', '```json\n{"path":"a"}\n```'],
  ])('repairs wrong JSON with one meaning: %s', (_what, text) => {
    expect(repairJson(text)).toEqual({
      json: '{"path":"a"}',
      warning: 'Warning: the arguments were not valid JSON. They were read as {"path":"a"}',
    });
  });

  it('keeps the text between two comments with apostrophes', () => {
    const text = `{"command":"git push origin main", // don't touch\n "dry_run": true, // it's a test\n}`;
    expect(meant(text)).toEqual({ command: 'git push origin main', dry_run: true });
    expect(meant(text.replaceAll(/\/\/(.*)/g, '/*$1*/'))).toEqual({ command: 'git push origin main', dry_run: true });
    expect(meant(text.replaceAll('\n', '\u2028'))).toEqual({ command: 'git push origin main', dry_run: true });
    expect(meant(`{'url':'http://a', // 'True'\n all:True}`)).toEqual({ url: 'http://a', all: true });
  });

  it('reads JSON with lines broken inside strings and constants of Python', () => {
    expect(meant('{"text":"one\n\ttwo \\"True\\"","all":True,"none":None}')).toEqual({ text: 'one\n\ttwo "True"', all: true, none: null });
  });

  it('keeps all digits of numbers in wrong JSON, or refuses it', () => {
    expect(meant('{id: -725653563933458433, "x": [+1e400, 0.5, 2,], "t": "725653563933458433"}')).toEqual({
      id: '-725653563933458433',
      x: ['1e400', 0.5, 2],
      t: '725653563933458433',
    });
    expect(meant('{id: 0x1F}')).toEqual({ id: 31 });
    expect(repairJson('{id: 0xFFFFFFFFFFFFFFFFF}')).toBeUndefined();
  });

  it('refuses a backslash before a line break, which could belong to the text or to JSON5', () => {
    expect(repairJson('{"command":"echo a \\\n b"}')).toBeUndefined();
    expect(repairJson('{"command":"echo a \\\\\\\r b"}')).toBeUndefined();
    expect(meant('{"command":"echo a \\\\\n b"}')).toEqual({ command: 'echo a \\\n b' });
  });

  it.each(['{"path":"a"}{"path":"b"}', '{"path":"a"}\n {"path":"b"}', '{"path":"a"}{"path":'])(
    'uses the first of several JSON objects, with a warning: %s [VA-03]',
    (text) => {
      expect(repairJson(text)).toEqual({
        json: '{"path":"a"}',
        warning: 'Warning: the arguments were several JSON objects. Only the first was used: {"path":"a"}',
      });
    },
  );

  it.each([
    ['is cut off', '{"command":"rm -rf /tm'],
    ['is cut off after a whole string', '{"command":"rm -rf /tmp"'],
    ['has quotes inside quotes', '{"command":"echo "hi""}'],
    ['lacks a quote', '{"command":"ls}'],
    ['is followed by text', '{"command":"ls"} and then'],
    ['has a number that JSON has not', '{"limit":Infinity}'],
    ['is no object', 'ls -l'],
    ['is valid', '{"command":"ls"}'],
  ])('keeps JSON unchanged if it %s', (_what, text) => {
    expect(repairJson(text)).toBeUndefined();
  });

  it('cuts wrong JSON in the warning, and never throws', () => {
    expect(repairJson(`{a:'${'x'.repeat(5000)}'}`)?.warning.length).toBeLessThan(300);
    fc.assert(
      fc.property(
        fc.oneof(fc.json(), fc.string(), fc.string({ unit: fc.constantFrom('{', '}', '"', "'", '\\', ',', ':', 'a', '\n', '`') })),
        (text) => {
          const repaired = repairJson(`{${text}`);
          if (repaired !== undefined) expect(JSON.parse(repaired.json)).toBeInstanceOf(Object);
        },
      ),
    );
    expect(repairJson(`{"a":${'['.repeat(200_000)}`)).toBeUndefined();
  });
});
