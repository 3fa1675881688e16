import { describe, expect, it } from '@jest/globals';
import { findLines, firstError, markFound } from './find-lines.js';
import { linesOf } from './terminal-text.js';

const E = '\u001b';

describe('finding in a log', () => {
  it('finds lines regardless of case and colours, and treats the query as plain text', () => {
    const log = linesOf(`a.b\naxb\nA.${E}[31mB${E}[0m\n`);
    expect(findLines(log, 'a.b')).toEqual([0, 2]);
    expect(findLines(log, '')).toEqual([]);
  });

  it('finds the first line about an error, not a summary without one', () => {
    expect(firstError(linesOf('0 errors\nno failures\nnpm ERR! code 1\nError: x'))).toBe(2);
    expect(firstError(linesOf('terror\nall good'))).toBeUndefined();
  });

  it('highlights matches within coloured lines', () => {
    const line = linesOf(`one t${E}[31mwo two${E}[0m`).line(0);
    const marked = markFound(line, 'TWO');
    expect(marked.map(({ text, found = false }) => [text, found])).toEqual([
      ['one ', false],
      ['t', true],
      ['wo', true],
      [' ', false],
      ['two', true],
    ]);
    expect(marked.map(({ style }) => style.color)).toEqual([undefined, undefined, 'red', 'red', 'red']);
  });
});
