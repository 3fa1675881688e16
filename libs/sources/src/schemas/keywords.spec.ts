import { expect, it } from '@jest/globals';
import { compileExpression } from '#patterns';
import { patternFault } from './keywords.js';

it.each([
  ['the end of a text in Python', String.raw`^\d+\Z`, String.raw`\Z`],
  ['white space of Java', String.raw`^a\hb$`, String.raw`\h`],
  ['a line end of PCRE', String.raw`^a\Rb$`, String.raw`\R`],
  ['escape of PCRE', String.raw`\e\[0m`, String.raw`\e`],
  ['a count without its beginning, as Python has it', '^a{,3}$', '{,3}'],
  ['the common part of two classes, as Java has it', '^[a-z&&[^b]]+$', '&&['],
])('leaves a pattern to the other side with %s', (_what, pattern, word) => {
  expect(patternFault(pattern)).toBe(`its ${word} is not of JavaScript`);
});

it.each([
  ['both ends of a text in Ruby', String.raw`\A\d+\z`, '5', '5a'],
  ['a backslash before a letter', String.raw`^\\Z$`, String.raw`\Z`, 'Z'],
  ['a bracket and a comma', String.raw`^\{,3\}$`, '{,3}', 'a'],
  ['halves of a character', String.raw`^\uD83D\uDE00$`, '\u{1F600}', 'a'],
  ['halves of a character in a class', String.raw`^[\uD83D\uDE00a]+$`, '\u{1F600}a', 'b'],
])('checks a pattern with %s', (_what, pattern, good, bad) => {
  expect(patternFault(pattern)).toBeUndefined();
  const expression = compileExpression(pattern);
  expect([expression.test(good), expression.test(bad)]).toEqual([true, false]);
});
