import { expect, it } from '@jest/globals';
import { hasHiddenText, withoutHiddenText } from './visible-text.js';

it('removes hidden characters from the texts of a tool and its schemas, and from nothing that checks values', () => {
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

it('keeps the description of a tool as it is that has no hidden characters in its texts', () => {
  for (const tool of [{ description: 'Fügt hinzu 👍' }, { input: { enum: ['\u200B'] } }]) expect(withoutHiddenText(tool)).toBe(tool);
});

it('finds hidden characters that must stay in values, and removes none of them', () => {
  const tool = { input: { const: { title: 'a\u200B' }, properties: { default: { description: 'b\u061C\u034F' } } } };
  const read = withoutHiddenText(tool);
  expect(read).toEqual({ input: { const: { title: 'a\u200B' }, properties: { default: { description: 'b' } } } });
  expect([hasHiddenText(read), hasHiddenText({ description: 'a b' })]).toEqual([true, false]);
});
