/* oxlint-disable no-control-regex, no-misleading-character-class, typescript/no-misused-spread -- Control characters and lone code units are what this file is about. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SafetySettings } from '#contracts';
import { Redactor } from '../redactor.js';
import { ContentSanitizer } from '../content-sanitizer.js';
import { revealHiddenText } from './reveal-hidden-text.js';

const BODY = 'q7a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7';
const KNOWN = 'correct-horse-battery';
/** A text with a secret, and the part that must not be readable. */
const SECRETS = [
  [`ghp_${BODY}`, BODY],
  [`password: ${BODY}`, BODY],
  [`DB_PASSWORD=${BODY}`, BODY],
  [`{"api_key": "${BODY}"}`, BODY],
  [`Authorization: Bearer ${BODY}`, BODY],
  [`curl --token ${BODY}`, BODY],
  [`postgres://user:${BODY}@db.example.com/x`, BODY],
  [`-----BEGIN PRIVATE KEY-----\n${BODY}\n-----END PRIVATE KEY-----`, BODY],
  [KNOWN, KNOWN],
] as const;
/** Zero-width, bidi, tag, selector, filler, control, half a character, escape sequences. */
const HIDDEN = [
  '\u200b',
  '\u200d',
  '\u202e',
  '\u2066',
  '\u2028',
  '\ufeff',
  '\ufe0f',
  '\u00ad',
  '\u2800',
  '\u3164',
  '\u{E0041}',
  '\u{E0100}',
  '\ud800',
  '\x00',
  '\x08',
  '\x1b',
  '\x7f',
  '\x85',
  '\x9b31m',
  '\x1b[1m',
  '\x1b[2;5H',
  '\x1b]0;title\x07',
  '\x1b]8;;http://x\x1b\\',
];
const redactor = Redactor.of({ values: [KNOWN] });
const TELLING = 8;
/** A part of the secret that a reader of any kind would make out. */
const readable = (text: string, secret: string) =>
  [text, ...revealHiddenText(text).map((reading) => reading.text)].flatMap((reading) =>
    [...Array(secret.length - TELLING + 1).keys()].map((at) => secret.slice(at, at + TELLING)).filter((part) => reading.includes(part)),
  );

describe('a secret with something hidden in it', () => {
  it.each(SECRETS)('finds the secret in %j with any hidden characters in any place', (text, secret) => {
    const missed: unknown[] = [];
    for (const hidden of HIDDEN) {
      for (let at = 1; at < text.length; at++) {
        const torn = text.slice(0, at) + hidden + text.slice(at);
        const { value, secrets } = redactor.json({ a: [`x ${torn} y`] });
        const shown = value.a[0] ?? '';
        const parts = readable(shown, secret);
        const raw = redactor.rawText(`x ${torn} y`);
        if (parts.length > 0 || raw !== shown || secrets.length === 0) missed.push({ at, hidden, parts, shown, raw, secrets });
      }
    }
    expect(missed).toEqual([]);
  });

  it('finds a secret with many hidden characters, and removes nothing else', () => {
    const hidden = fc.constantFrom(...HIDDEN.filter((one) => one !== '\x1b'));
    fc.assert(
      fc.property(
        fc.constantFrom(...SECRETS),
        fc.array(fc.tuple(fc.nat(), hidden), { minLength: 1, maxLength: 12 }),
        ([text, secret], all) => {
          const places = all.map(([at, one]) => [1 + (at % (text.length - 1)), one] as const).sort(([a], [b]) => b - a);
          let torn: string = text;
          for (const [at, one] of places) torn = torn.slice(0, at) + one + torn.slice(at);
          const before = 'keep\u200bthis\u202e\x1b[1m';
          const after = '\u{E0041}and\x00this';
          const shown = redactor.rawText(`${before}\n${torn}\n${after}`);
          expect(readable(shown, secret)).toEqual([]);
          expect([shown.startsWith(before), shown.endsWith(after)]).toEqual([true, true]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('finds a secret with hidden characters by its key, and in all other places without them', () => {
    const { value, secrets } = redactor.json({ 'pass\u200bword': `hun\u200bter2x` });
    expect(value).toEqual({ 'pass\u200bword': '[REDACTED]' });
    expect(redactor.withSecrets(secrets).text('it is hunter2x')).toBe('it is [REDACTED]');
  });

  it('leaves a text with hidden characters but without secrets unchanged', () => {
    for (const text of ['a\u200bb', 'می‌خواهم 👩‍🚀', '\x1b[31mred\x1b[0m', 'plain']) {
      const value = { text };
      expect(redactor.rawText(text)).toBe(text);
      expect(redactor.json(value).value).toBe(value);
    }
  });

  it('removes a secret from outputs also if hidden characters are escaped', () => {
    const safety = ContentSanitizer.of(SafetySettings.parse({ hiddenCharacters: 'escape' }));
    for (const at of Array(BODY.length).keys()) {
      const torn = `ghp_${BODY.slice(0, at)}\u200b${BODY.slice(at)}`;
      const text = `a\u202eb ${torn} c\u{E0041}`;
      expect(safety.text(text)).toBe('a\\u{202E}b [REDACTED] c\\u{E0041}');
      expect(safety.truncatedText(text.slice(0, -2))).toBe('a\\u{202E}b [REDACTED] c');
      expect(safety.json({ text })).toEqual({ text: 'a\\u{202E}b [REDACTED] c\\u{E0041}' });
      const stream = safety.stream();
      expect([...text].map((piece) => stream.push(piece)).join('') + stream.flush()).toBe('a\\u{202E}b [REDACTED] c\\u{E0041}');
    }
  });
});
