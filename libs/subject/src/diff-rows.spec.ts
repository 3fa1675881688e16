import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { diffRows, foldRows, hunkRows, lineOfText, type Side } from './diff-rows.js';

const textOf = (side: Side | undefined) => side?.spans.map(({ text }) => text).join('');

describe('the difference of two texts', () => {
  it('shows changed lines side by side with the words that differ, and counts both', () => {
    const { rows, added, removed } = diffRows('a\nb old c\nd\n', 'a\nb new c\nd\ne\n');
    expect([added, removed]).toEqual([2, 1]);
    expect(rows.map(({ before, after }) => [before?.number, textOf(before), after?.number, textOf(after)])).toEqual([
      [1, 'a', 1, 'a'],
      [2, 'b old c', 2, 'b new c'],
      [3, 'd', 3, 'd'],
      [undefined, undefined, 4, 'e'],
    ]);
    expect(rows[1]?.after?.spans.filter(({ changed }) => changed)).toEqual([{ text: 'new', changed: true }]);
  });

  it('folds lines far from a change', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const shown = foldRows(diffRows(lines.join('\n'), lines.join('\n').replace('line 10', 'LINE 10')).rows);
    expect(shown.map((row) => (row.kind === 'fold' ? row.lines : row.kind))).toEqual([
      7,
      'same',
      'same',
      'same',
      'changed',
      'same',
      'same',
      'same',
      6,
    ]);
  });

  it('shows texts with more lines than a function accepts arguments', () => {
    const text = 'a\n'.repeat(300_000);
    expect(diffRows(text, '').rows).toHaveLength(300_000);
  });

  it('shows every line of both texts', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'a b', '', ' c'), { maxLength: 12 })
      .map((lines) => lines.map((line) => `${line}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { rows } = diffRows(before, after);
        expect(rows.flatMap((row) => (row.before ? [`${textOf(row.before)}\n`] : [])).join('')).toBe(before);
        expect(rows.flatMap((row) => (row.after ? [`${textOf(row.after)}\n`] : [])).join('')).toBe(after);
      }),
    );
  });
});

const HUNKS = [
  { oldStart: 4, oldLines: 3, newStart: 4, newLines: 4, lines: [' a', '-b old', '+b new', '+c', ' z', '\\ No newline at end of file'] },
  { oldStart: 20, oldLines: 2, newStart: 21, newLines: 1, lines: [' x\r', '-y'] },
];

describe('the hunks of a change', () => {
  it('shows the hunks of a change side by side with the file’s line numbers, and folds the lines between', () => {
    const shown = hunkRows(HUNKS).map((row) =>
      row.kind === 'fold' ? row.lines : [row.before?.number, textOf(row.before), row.after?.number, textOf(row.after)],
    );
    expect(shown).toEqual([
      3,
      [4, 'a', 4, 'a'],
      [5, 'b old', 5, 'b new'],
      [undefined, undefined, 6, 'c'],
      [6, 'z', 7, 'z'],
      13,
      [20, 'x', 21, 'x'],
      [21, 'y', undefined, undefined],
    ]);
  });

  it.each([
    ['before', 'b old', 5],
    ['after', 'b new', 5],
    ['after', 'new\nc\nz', 5],
    ['after', 'c\n', 6],
    ['before', 'z', 6],
    ['after', 'z', 7],
    ['before', 'x\ny', 20],
    ['after', 'b old', undefined],
    ['after', 'elsewhere', undefined],
    ['after', '', undefined],
  ] as const)('finds the line of the file %s at which its change %j begins', (side, text, line) =>
    expect(lineOfText(text, side, HUNKS)).toBe(line),
  );
});
