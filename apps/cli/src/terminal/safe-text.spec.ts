import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { oneLine, safeText } from './safe-text.js';

const ESC = '\u001b';

describe('text for a terminal', () => {
  it('prints text in any script unchanged', () => {
    for (const text of ['plain\ttext\n', 'żółw, 日本語, 👩‍🚀', 'a\u00a0b']) expect(safeText(text)).toBe(text);
  });

  it('drops escape sequences and characters that change the direction of text for a terminal', () => {
    expect(safeText(`${ESC}[2J${ESC}]0;title\u0007${ESC}[31mred${ESC}[0m`)).toBe('red');
    expect(safeText('invoice\u202efdp.exe')).toBe('invoicefdp.exe');
    expect(safeText('50 %\rdone\r\n')).toBe('50 %\ndone\n');
  });

  it('leaves no control character in text for a terminal, wherever a chunk was cut', () => {
    const hostile = fc
      .array(fc.constantFrom(ESC, '\u009b', '\u0007', '\u0000', '\u007f', '[2J', ']52;c;', 'x', '\u2066', '\r'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(hostile, fc.nat(), (text, at) => {
        const cut = at % (text.length + 1);
        const shown = safeText(text.slice(0, cut)) + safeText(text.slice(cut));
        for (const character of shown) expect(character === '\n' || character >= ' ').toBe(true);
        for (const control of [ESC, '\u009b', '\u007f', '\u2066', '\r']) expect(shown).not.toContain(control);
      }),
    );
  });

  it('fits text for a terminal on one line of a table', () => {
    expect(oneLine('one\n  two\tthree', 40)).toBe('one two three');
    expect(oneLine('0123456789', 5)).toBe('0123…');
  });
});
