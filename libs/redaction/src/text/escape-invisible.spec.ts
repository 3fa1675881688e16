import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { escapeInvisibleJson, escapeInvisibleText } from './escape-invisible.js';

const pieces = fc.constantFrom(
  'a',
  ' ',
  '\n',
  '\t',
  '1',
  '👩',
  '\u200d',
  '🚀',
  '\ufe0f',
  '\u202e',
  '\u{E0041}',
  '\u00ad',
  '\u00a0',
  '\x1b',
  '\x00',
  '\r',
  '\ud800',
  'م',
  '\u200c',
  '\u2800',
  '\u3164',
  'é',
  '密',
);
const texts = fc.array(pieces, { maxLength: 20 }).map((all) => all.join(''));
/** Characters that may stay unchanged: joiners between emoji or joined letters, selectors behind emoji, line ends. */
const SEEN =
  /\r\n|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\ufe0f|(?<=[\u0600-\u0dff])[\u200c\u200d](?=[\u0600-\u0dff])/gu;

describe('escapeInvisibleText', () => {
  it('escapes everything invisible, and removes nothing', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const shown = escapeInvisibleText(text);
        expect(shown.replaceAll(SEEN, '')).toMatch(/^[a1é密م👩🚀\n\t \\u{}0-9A-F]*$/u);
        expect(shown.replaceAll(/\\u\{([0-9A-F]+)\}/g, (_all, code: string) => String.fromCodePoint(parseInt(code, 16)))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('escapes invisible text in JSON, also in keys, and leaves harmless text unchanged', () => {
    expect(escapeInvisibleJson({ 'pa\u200bth': ['x\u202ey', 1, null], ok: true })).toEqual({
      'pa\\u{200B}th': ['x\\u{202E}y', 1, null],
      ok: true,
    });
    const plain = { text: 'naïve 日本語 👩‍🚀', deep: [{ n: 1 }] };
    expect(escapeInvisibleJson(plain)).toBe(plain);
  });
});
