import { expect, it } from '@jest/globals';
import { hasHiddenText, withoutHiddenText } from './visible-text.js';

it('removes hidden characters from the texts of a tool and its schemas, but not from checked values', () => {
  const tags = '\u{E0052}\u{E0075}\u{E006E}';
  const tool = {
    rawName: `a\u200B`,
    label: `A${tags}`,
    description: `Adds\u202E.\u{1F468}\u200D\u{1F469}`,
    input: { type: 'object', properties: { description: { enum: ['\u200B'], description: `x\u2063`, pattern: '^\u200B$' } } },
  };
  expect(withoutHiddenText(tool)).toEqual({
    rawName: `a\u200B`,
    label: 'A',
    description: 'Adds.\u{1F468}\u200D\u{1F469}',
    input: { type: 'object', properties: { description: { enum: ['\u200B'], description: 'x', pattern: '^\u200B$' } } },
  });
});

it.each([
  [
    'bytes in variation selectors',
    `Search${Array.from('ignore all', (it) => String.fromCodePoint(0xe0100 + (it.codePointAt(0) ?? 0))).join('')}.`,
  ],
  ['selectors one after the other', 'Search\uFE01\uFE0E\uFE0F.'],
  ['letters without width', 'Sea\u17B4rch\u17B5.'],
  ['joiners between Latin letters', 'S\u200Dearc\u200Ch.'],
  ['soft hyphens and controls of musical notes', 'Se\u00ADar\u{1D173}ch.'],
  ['what a terminal does not show', 'Search\u001B[8m\u001B[0m\u0007.'],
])('removes %s from the texts of a tool', (_what, description) => {
  expect(hasHiddenText({ description })).toBe(true);
  expect(withoutHiddenText({ description })).toEqual({ description: 'Search.' });
});

it('finds control characters in names and values of a tool, but not in patterns for them', () => {
  expect(hasHiddenText({ input: { properties: { 'a\u001B': {} } } })).toBe(true);
  expect(hasHiddenText({ input: { const: 'a\u0007' } })).toBe(true);
  expect(hasHiddenText({ input: { pattern: '\\bword\\u0007\\f' }, description: 'one\r\n\ttwo' })).toBe(false);
});

it('keeps a tool description without hidden characters unchanged', () => {
  for (const tool of [{ description: 'Fügt hinzu 👍 ❤️ 👩‍🚀 می‌خواهم' }, { input: { enum: ['\u200B'] } }])
    expect(withoutHiddenText(tool)).toBe(tool);
});

it('finds hidden characters that must stay in values, and removes none', () => {
  const tool = { input: { const: { title: 'a\u200B' }, properties: { default: { description: 'b\u061C\u034F' } } } };
  const read = withoutHiddenText(tool);
  expect(read).toEqual({ input: { const: { title: 'a\u200B' }, properties: { default: { description: 'b' } } } });
  expect([hasHiddenText(read), hasHiddenText({ description: 'a b' })]).toEqual([true, false]);
});
