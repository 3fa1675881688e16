/* oxlint-disable no-control-regex, no-misleading-character-class, typescript/no-misused-spread -- Control characters and lone code units are what this file is about. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cleanText } from '#patterns';
import { Redactor } from '../redactor.js';
import { sanitizeTruncated, sanitizeText, SanitizedTextStream } from './sanitized-text.js';

const redactor = Redactor.of();
const GHP = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
const bits = fc.constantFrom(
  'a',
  '1',
  ' ',
  '\n',
  '\r',
  '\r\n',
  '\x1b',
  '\x1b[',
  '\x1b[31m',
  '\x1b[0m',
  '\x1b[2J',
  '\x1b[10;3H',
  '\x1b]0;title\x07',
  '\x1b]52;c;aGk=\x1b\\',
  '\x1b]8;;http://x\x07',
  '\x9b1m',
  '\x07',
  '\x08',
  '\u{E0041}',
  '\u{E0100}',
  '\u200b',
  '\u200d',
  '\u200c',
  '\u202e',
  '\ufe0f',
  '\ufe00',
  '👩',
  '🚀',
  '❤',
  'م',
  'ی',
  GHP,
  'password: hunter2x',
  'm',
  '[',
  ';',
  '\x1b(B',
  '\x9d',
);
const texts = fc.array(bits, { maxLength: 24 }).map((parts) => parts.join(''));

function watched(text: string, cuts: readonly number[]): string {
  const stream = new SanitizedTextStream(redactor, 'drop');
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  let out = '';
  let from = 0;
  for (const place of [...places, text.length]) {
    out += stream.push(text.slice(from, place));
    from = place;
  }
  return out + stream.flush();
}
const STYLES = /\x1b\[[0-9;:]*m/g;

describe('cleaning', () => {
  it.each([
    ['tag characters', `a\u{E0041}\u{E0042}b`, 'ab'],
    ['bidi overrides', 'a\u202eb\u2066c', 'abc'],
    ['zero-width characters', 'pa\u200bss\u2060word\ufeff', 'password'],
    ['bytes hidden in variation selectors', `😀\u{E0100}\u{E0120}\ufe05x\ufe0f`, '😀x'],
    ['fillers', 'a\u3164\u115fb', 'ab'],
    ['controls of musical notes', 'a\u{1D173}\u{1BCA0}b', 'ab'],
    ['colours', '\x1b[31mred\x1b[0m', 'red'],
    ['cursor games, titles and the clipboard', 'a\x1b[2J\x1b[1;1H\x1b]0;title\x07\x1b]52;c;cm0gLXJm\x1b\\b', 'ab'],
    ['control characters', 'a\x00\x07\x08b\tc', 'ab\tc'],
    ['line ends that overwrite', '10%\r20%\r\ndone', '10%\n20%\r\ndone'],
  ])('removes %s from a text [PP-107]', (_what, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  it('keeps the joiners of emoji and scripts', () => {
    for (const text of ['👩‍🚀 👨‍👩‍👧 ❤️ 1️⃣ 🏳️‍🌈', 'می‌خواهم', 'हिन्‍दी', 'naïve 日本語\ttab\n']) expect(cleanText(text)).toBe(text);
  });

  it('escapes hidden characters on request', () => {
    expect(sanitizeText('a\u202eb\u{E0041}', redactor, 'escape')).toBe('a\\u{202E}b\\u{E0041}');
  });

  it('finds a secret with hidden characters inside', () => {
    expect(sanitizeText(`gh\u200bp_abcdefghijkl\x1b[1mmnopqrstuvwxyz0123456789`, redactor, 'drop')).toBe('[REDACTED]');
  });
});

describe('a text that was cut off', () => {
  it('leaves no half of a secret or of an escape sequence at the cut of a text', () => {
    expect(sanitizeTruncated(`key ${GHP.slice(0, 30)}`, redactor, 'drop')).toBe('key [REDACTED]');
    expect(sanitizeTruncated('title \x1b]0;half of', redactor, 'drop')).toBe('title ');
    expect(sanitizeTruncated('all of it', redactor, 'drop')).toBe('all of it');
    expect(sanitizeTruncated('1\ufe0f\ufe0f', redactor, 'drop')).toBe('1');
  });

  it('cuts a text the same for watchers and models', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const stream = new SanitizedTextStream(redactor, 'drop');
        expect((stream.push(text) + stream.flush(true)).replaceAll(STYLES, '')).toBe(sanitizeTruncated(text, redactor, 'drop'));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('SanitizedTextStream', () => {
  it('gives watchers the text of the model with colours, for any chunks', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 30 }), (text, cuts) => {
        const whole = watched(text, []);
        expect(watched(text, cuts)).toBe(whole);
        expect(whole.replaceAll(STYLES, '')).toBe(sanitizeText(text, redactor, 'drop'));
      }),
      { numRuns: 3_000 },
    );
  });

  it('keeps colours of a text in place, and moves those of a secret behind its mark', () => {
    expect(watched(`\x1b[31mkey\x1b[0m gh\x1b[1mp_abcdefghijklmnopqrstuvwxyz012345\x1b[0m6789 \x1b[2Jend\x1b[32m`, [3, 7, 20, 33])).toBe(
      '\x1b[31mkey\x1b[0m [REDACTED]\x1b[1m\x1b[0m end\x1b[32m',
    );
  });

  it('keeps only colours of all terminal sequences', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(watched(text, []).replaceAll(STYLES, '')).not.toMatch(
          /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u{E0000}-\u{E0FFF}\u202e\u200b]/u,
        );
      }),
      { numRuns: 1_000 },
    );
  });
});
