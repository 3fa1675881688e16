import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { escapeInvisible, invisiblePieces } from './invisible.js';

describe('characters that reorder or hide text', () => {
  it('are written out', () => {
    expect(escapeInvisible('a\u202Eb\u200B\u{E0041}')).toBe('a‹U+202E›b‹U+200B›‹U+E0041›');
  });

  it('are pieces of their own, also where the gateway has written them out', () => {
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

  it('are all that is taken out of a text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const again = invisiblePieces(text).map((piece) => ('text' in piece ? piece.text : String.fromCodePoint(piece.codePoint)));
        expect(again.join('')).toBe(text);
      }),
    );
  });
});
