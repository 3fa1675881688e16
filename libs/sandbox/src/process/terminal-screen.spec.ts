import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../../test/support/any-text.js';
import { TerminalScreen } from './terminal-screen.js';

function shown(...pieces: readonly string[]): string {
  const screen = new TerminalScreen();
  return pieces.map((piece) => screen.push(piece)).join('') + screen.end();
}

const bars = (count: number) => Array.from({ length: count }, (_unused, n) => `\r${n}%`).join('');
const numbered = (count: number) => Array.from({ length: count }, (_unused, n) => `line ${n}\n`).join('');

/** Pieces of what programs write to terminals. */
const ODD = [
  '\u001b',
  '\u001b[',
  '\u001b[2K',
  '\u001b[1A',
  '\u001b[31m',
  '\u001b[9;9H',
  '\u001b[?7A',
  '\u001b[2J',
  '\u001b[J',
  '\u001b[1K',
  '\u001b[2B',
  '\u001b[3C',
  '\u001b[s',
  '\u001b[u',
  '\u001bc',
  '\u001b]0;t\u0007',
  '\b',
  '\r',
  '\n',
  '\t',
  '\0',
  '日',
  'é',
  'ab',
];

describe('the text of a program on a terminal', () => {
  it.each([
    ['colours', '\u001b[1;31mred\u001b[0m and \u001b[38:5:2mgreen\u001b[m\n', 'red and green\n'],
    ['titles and links', '\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\\n', 'alink\n'],
    ['a title that never ends', 'a\u001b]0;title\nb\n', 'a\nb\n'],
    ['a bar that redraws its line', `${bars(101)}\ndone\n`, '100%\ndone\n'],
    ['a bar that redraws its line and ends by a return', '\r 50%\r100%\r', '100%'],
    ['a shorter text over a longer one', 'Downloading\rDone\n', 'Doneloading\n'],
    ['a shorter text over a line that was erased', 'Downloading\r\u001b[KDone\n', 'Done\n'],
    ['an erased line', 'Downloading\u001b[2K\rDone\n', 'Done\n'],
    ['an erased beginning', 'abcdef\u001b[3D\u001b[1K\n', '    ef\n'],
    ['backspaces', 'N\bNA\bAME _\bx 1\b2\b\b3\n', 'NAME x32\n'],
    ['a spinner of backspaces', 'wait |\b/\b-\b\\\b done\n', 'wait  done\n'],
    [
      'two bars that are drawn again from above',
      'a 0%\nb 0%\n\u001b[2Aa 9%\nb 9%\n\u001b[2A\u001b[2Ka ok\n\u001b[2Kb ok\nend\n',
      'a ok\nb ok\nend\n',
    ],
    ['lines that are erased below the cursor', 'one\ntwo\nthree\n\u001b[2A\u001b[Jlast\n', 'one\nlast\n'],
    ['a screen that is cleared within a line', 'one\u001b[2Jtwo\u001b[2J\u001b[H\u001b[2Jthree\u001bcfour\n', 'onetwo\nthree\nfour\n'],
    ['a screen that is cleared', 'error: no\n\u001b[2J\u001b[Hnext\n', 'error: no\nnext\n'],
    ['text beside text', 'a\u001b[10Gb\u001b[Cc\n', 'a        b c\n'],
    ['a saved place', 'x \u001b7old\u001b8new\n', 'x new\n'],
    ['wide characters that are written over', '日本語\rab\n', 'ab本語\n'],
    ['half of a wide character', '日本\rx\n', 'x 本\n'],
    ['a joined emoji', '👩‍🔬 ok\rab\n', 'ab ok\n'],
    ['tabs', 'a\tb\rA\n1\t2\n', 'A\tb\n1\t2\n'],
    ['line ends of Windows', 'one\r\ntwo\r\n', 'one\r\ntwo\r\n'],
    ['a bar with line ends of Windows', '1%\r2%\r\nnext\r\n', '2%\r\nnext\r\n'],
    ['bells, NUL bytes and other controls', 'a\u0007b\0c\u000ed\u007f\n', 'abcd\n'],
    ['bytes that are no UTF-8', '\ufffd\ufffdx\n', '\ufffd\ufffdx\n'],
    ['a cursor above the top', 'a\n\u001b[99Ab\u001b[99B\n', 'b\n'.padEnd(25, '\n')],
    ['parameters that are no numbers', 'one\ntwo\u001b[;:A\u001b[1:2GT\n', 'Tne\ntwo'],
    ['private sequences of keyboards', 'one\n\u001b[>1u\u001b[?9;5Atwo\n', 'one\ntwo\n'],
    ['a screen that is cleared from its top', 'error: no\n\u001b[H\u001b[Jnext\n', 'error: no\nnext\n'],
    ['half a sequence at the end', 'ab\u001b[3', 'ab'],
  ])('shows %s as a terminal does in the end', (_title, text, expected) => {
    expect(shown(text)).toBe(expected);
    expect(shown(...text.split(''))).toBe(expected);
  });

  it('passes plain text unchanged, in any pieces', () => {
    const plain = fc
      .array(fc.oneof(anyText({ maxLength: 20 }), fc.constantFrom('\n', '\r\n', '\t', 'line\n')))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(plain, fc.constantFrom('\n', '\r\n'), fc.integer({ min: 1, max: 9 }), (any, end, size) => {
        const text = any.replaceAll(/\p{Cc}/gu, (it) => (it === '\n' || it === '\t' ? it : '')).replaceAll('\n', end);
        expect(shown(...(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []))).toBe(text);
      }),
    );
  });

  it('shows the same text for any pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ODD), { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (parts, size) => {
        const text = parts.join('');
        expect(shown(...(text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? []))).toBe(shown(text));
      }),
    );
  });

  it.each([
    ['ASCII', 'x'.repeat(2_000)],
    ['wide characters', '日'.repeat(1_000)],
    ['joined characters', `b${'\u200db'.repeat(30)}`.repeat(30)],
  ])('ends a program that turns a row of %s to and fro as lines, since each turn costs as much as the row', (_what, row) => {
    const turns = 5_000;
    const text = shown(row, ...Array.from({ length: 10 }, () => '\r\n\u001b[Aa'.repeat(turns / 10)));
    expect(text.split('\n').length).toBeGreaterThan(turns / 2);
  });

  it('accepts endless joined characters, and keeps few of them', () => {
    const screen = new TerminalScreen();
    const piece = '\u200db'.repeat(30_000);
    let given = screen.push('x\rb').length;
    for (let n = 0; n < 100; n += 1) given += screen.push(piece).length;
    given += screen.push('\r\n\u001b[Aa').length;
    expect(given).toBeGreaterThan(99 * piece.length);
    expect(screen.end().length).toBeLessThan(2 * piece.length);
  });

  it('prints returns as line ends, and keeps Windows line ends after too many cursor moves, in any pieces', () => {
    const screen = new TerminalScreen();
    screen.push(`${'x'.repeat(2_000)}${'\r\n\u001b[Aa'.repeat(5_000)}`);
    expect(screen.push('1%\r') + screen.push('2%\r') + screen.push('\nend\u001b[5A\u001b[31m!') + screen.end()).toMatch(/1%\n2%\r\nend!$/);
  });

  it('keeps all lines of a long text, with at most a screen in memory', () => {
    const screen = new TerminalScreen();
    const early = screen.push(numbered(10_000));
    expect(early).toMatch(/line 9976\n$/);
    expect(early + screen.push('\u001b[1A\u001b[2Kover\n') + screen.end()).toBe(numbered(10_000).replace('line 9999', 'over'));
    expect(new TerminalScreen().push('x'.repeat(200_000)).length).toBeGreaterThan(100_000);
  });
});
