import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { escapeInvisible, invisiblePieces, markedPieces, markedText } from './invisible.js';
import { anyText } from '../../../test/support/any-text.js';

describe('characters that reorder or hide text', () => {
  it('writes out characters that reorder or hide text', () => {
    expect(escapeInvisible('a\u202Eb\u200B\u{E0041}')).toBe('a‹U+202E›b‹U+200B›‹U+E0041›');
  });

  it('escapes fillers, lone selectors and musical controls, and keeps emoji whole', () => {
    expect(escapeInvisible('a\u17b4b\ufe0fc\ufff9\u{1d173}\u{1bca0}')).toBe('a‹U+17B4›b‹U+FE0F›c‹U+FFF9›‹U+1D173›‹U+1BCA0›');
    expect(escapeInvisible('soft\u00adhyphen\u2028line\r\n')).toBe('soft‹U+00AD›hyphen‹U+2028›line\r\n');
    const seen = '\u{1f469}\u200d\u{1f4bb} \u2764\ufe0f 1\ufe0f\u20e3 \u0645\u06cc\u200c\u062e';
    expect(escapeInvisible(seen)).toBe(seen);
  });

  it('separates hidden characters from text, also escaped ones', () => {
    expect(invisiblePieces('a\u202Eb')).toEqual([{ text: 'a' }, { codePoint: 0x202e }, { text: 'b' }]);
    expect(invisiblePieces('a\\u{202E}b\\u{41}\u200b', true)).toEqual([
      { text: 'a' },
      { codePoint: 0x202e },
      { text: 'b\\u{41}' },
      { codePoint: 0x200b },
    ]);
    expect(invisiblePieces('a\\u{202E}b')).toEqual([{ text: 'a\\u{202E}b' }]);
    expect(invisiblePieces('\\u{FFFFFF}', true)).toEqual([{ text: '\\u{FFFFFF}' }]);
  });

  it('removes nothing but hidden characters from a text', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const again = invisiblePieces(text).map((piece) => ('text' in piece ? piece.text : String.fromCodePoint(piece.codePoint)));
        expect(again.join('')).toBe(text);
      }),
    );
  });
});

describe('names that may not be what they look like', () => {
  it.each([
    ['a word of two alphabets', 'p\u0430ypal --now', 'p\u0430ypal‹Latin and Cyrillic: U+0430› --now'],
    ['a file', 'src/l\u03bfgin.ts', 'src/l\u03bfgin‹Latin and Greek: U+03BF›.ts'],
    [
      'many letters',
      '\u0441\u043e\u0440\u0443\u0435x',
      '\u0441\u043e\u0440\u0443\u0435x‹Latin and Cyrillic: U+0441 U+043E U+0440 U+0443 …›',
    ],
    [
      'a host',
      'curl https://\u043f\u0440\u0438\u043c\u0435\u0440.com/a',
      'curl https://\u043f\u0440\u0438\u043c\u0435\u0440.com‹Latin and Cyrillic: U+043F U+0440 U+0438 U+043C …›/a',
    ],
    [
      'a host without a scheme whose label is all Cyrillic and looks Latin',
      'curl \u0430\u0440\u0440\u04cf\u0435.com',
      'curl \u0430\u0440\u0440\u04cf\u0435.com‹Latin and Cyrillic: U+0430 U+0440 U+04CF U+0435›',
    ],
    ['a host in punycode', 'ssh git@a.XN--pple-43d.com:x', 'ssh git@a.XN--pple-43d.com‹punycode›:x'],
    ['a host that is written as a unit', 'curl https://k\u03a9/x', 'curl https://k\u03a9‹Latin and Greek: U+03A9›/x'],
    ['a word that only begins as a unit', 'k\u03a9pay 5\u03bcsx', 'k\u03a9pay‹Latin and Greek: U+03A9› 5\u03bcsx‹Latin and Greek: U+03BC›'],
    ['beside a hidden character', 'p\u0430y\u200b', 'p\u0430y‹Latin and Cyrillic: U+0430›‹U+200B›'],
  ])('marks a name that may imitate another: %s', (_what, text, marked) => expect(markedText(text)).toBe(marked));

  it.each([
    'git commit -m "fix: \u0438\u0441\u043f\u0440\u0430\u0432\u043b\u0435\u043d\u0438\u0435 API-\u043a\u043b\u044e\u0447\u0430"',
    'cat \u043e\u0442\u0447\u0435\u0442.txt docs/\u03b5\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac.md',
    'https://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/',
    'żółw 日本語 naïve µs x--n',
    'R1=4.7k\u03a9, 10M\u2126, m\u03a9/m; sleep 250\u03bcs; 3\u03bcm \u03bcF 5\u03bcmol 21°C',
  ])('marks no name of one alphabet: %s', (text) => expect(markedText(text)).toBe(text));

  it('keeps all of a marked text, in time independent of its length', () => {
    const again = (text: string) =>
      markedPieces(text).map((piece) => {
        if ('text' in piece) return piece.text;
        return 'codePoint' in piece ? String.fromCodePoint(piece.codePoint) : piece.lookAlike;
      });
    const parts = fc.constantFrom('a', '\u0430', '.', '-', '//', '@', 'xn--', '\u03bf', ' ', '\u200b', '\u0301');
    fc.assert(fc.property(fc.array(parts, { maxLength: 30 }), (all) => expect(again(all.join('')).join('')).toBe(all.join(''))));
    for (const piece of ['a', 'a.', '\u0430', '\u0430.', 'xn--', '@a\u0430'])
      expect(again(piece.repeat(50_000)).join('')).toHaveLength(piece.length * 50_000);
  });
});
