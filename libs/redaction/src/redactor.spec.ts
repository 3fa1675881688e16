/* oxlint-disable no-control-regex, no-misleading-character-class, typescript/no-misused-spread -- Control characters and lone code units are what this file is about. */
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Redactor } from './redactor.js';
import { SecretFinder } from './secrets/secret-finder.js';
import { anyText } from '../../../test/support/any-text.js';

const alnum = (length: number) =>
  fc.string({
    unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'),
    minLength: length,
    maxLength: length,
  });
const upper = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'), minLength: length, maxLength: length });
/** Has a letter and a digit, so that it looks like a secret beside any name. */
const value = alnum(14).map((text) => `q7${text}`);
const KNOWN = ['correct horse battery', 'p@ss:w0rd=1', 'длинный-секрет', '密密密密密密', '-----BEGIN of mine', 'sk-short'];

/** Text that contains a secret, and the secret itself. */
const secrets: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  upper(16).map((body) => [`AKIA${body}`, body] as const),
  alnum(36).map((body) => [`ghp_${body}`, body] as const),
  alnum(40).map((body) => [`github_pat_${body}`, body] as const),
  alnum(30).map((body) => [`xoxb-1${body}`, body] as const),
  alnum(40).map((body) => [`sk-ant-api03-a1${body}`, body] as const),
  alnum(24).map((body) => [`sk_live_${body}`, body] as const),
  alnum(35).map((body) => [`AIza${body}`, body] as const),
  alnum(30).map((body) => [`eyJhbGciOiJIUzI1NiJ9.eyJ${body}.c2ln${body}`, body] as const),
  alnum(60).map((body) => [`-----BEGIN RSA PRIVATE KEY-----\nMII${body}\n${body}==\n-----END RSA PRIVATE KEY-----`, body] as const),
  alnum(60).map((body) => [`-----BEGIN PRIVATE KEY-----\\nMII${body}\\n-----END PRIVATE KEY-----\\n`, body] as const),
  value.map((body) => [`postgres://user:${body}@db.example.com/x`, body] as const),
  value.map((body) => [`password: ${body}`, body] as const),
  value.map((body) => [`DB_PASSWORD=${body}`, body] as const),
  value.map((body) => [`{"api_key": "${body}"}`, body] as const),
  value.map((body) => [`{\\"clientSecret\\":\\"${body}\\"}`, body] as const),
  value.map((body) => [`Authorization: Bearer ${body}`, body] as const),
  value.map((body) => [`Set-Cookie: sid=${body}; Path=/`, body] as const),
  value.map((body) => [`curl --token ${body}`, body] as const),
  value.map((body) => [`https://example.com/?access_token=${body}&x=1`, body] as const),
  fc.constantFrom(...KNOWN).map((body) => [body, body] as const),
);
const words = fc.array(
  fc.oneof(
    fc.lorem({ maxCount: 3 }),
    anyText({ maxLength: 12 }),
    fc.constantFrom('\n', '=', ': ', '"', '://', '-----', 'token', 'AK', 'sk-', 'gh', 'password='),
  ),
  { maxLength: 8 },
);
/** A secret stands between blanks or lines, as tokens do. */
const texts = fc.array(fc.tuple(words, secrets, words, fc.constantFrom(' ', '\n')), { minLength: 0, maxLength: 4 });
const textOf = (parts: readonly (readonly [readonly string[], readonly [string, string], readonly string[], string])[]) =>
  parts.map(([before, [text], after, gap]) => `${before.join('')}${gap}${text}${gap}${after.join('')}`).join('\n');

const redactor = Redactor.of({ values: KNOWN });
const random = Redactor.of({ values: KNOWN, entropy: true });

function inPieces(text: string, cuts: readonly number[], by: Redactor): string {
  const stream = by.stream();
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  let out = '';
  let from = 0;
  for (const place of [...places, text.length]) {
    out += stream.push(text.slice(from, place));
    from = place;
  }
  return out + stream.flush();
}

describe('Redactor', () => {
  it('leaves no secret in a text', () => {
    fc.assert(
      fc.property(fc.tuple(words, secrets, words), ([before, [text, secret], after]) => {
        // Text before the secret must not begin a longer token, nor quote the secret.
        expect(redactor.text(`${before.join('').replaceAll(/["'`=:\\]/g, '')} \n${text}\n${after.join('')}`)).not.toContain(secret);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds secrets in a text cut into any pieces [PP-105]', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 30 }), fc.boolean(), (parts, cuts, entropy) => {
        const text = textOf(parts);
        const by = entropy ? random : redactor;
        expect(inPieces(text, cuts, by)).toBe(by.text(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('shows no half of a secret at a cut, and the same text before it as without the cut', () => {
    fc.assert(
      fc.property(texts, fc.nat(), (parts, place) => {
        const text = textOf(parts);
        const whole = redactor.text(text);
        const cut = text.slice(0, place % (text.length + 1));
        const stream = redactor.stream();
        for (const shown of [redactor.truncatedText(cut), stream.push(cut) + stream.flush(true)])
          expect(whole.startsWith(shown) || (shown.endsWith('[REDACTED]') && whole.startsWith(shown.slice(0, -10)))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('redacts the same for every single place to cut at, and one character at a time', () => {
    fc.assert(
      fc.property(texts, (parts) => {
        const text = textOf(parts).slice(0, 600);
        const whole = redactor.text(text);
        for (let cut = 0; cut <= text.length; cut++) expect(inPieces(text, [cut], redactor)).toBe(whole);
        expect(inPieces(text, [...text.split('').keys()], redactor)).toBe(whole);
      }),
      { numRuns: 60 },
    );
  });

  it('leaves its own output unchanged', () => {
    fc.assert(
      fc.property(texts, (parts) => {
        const once = redactor.text(textOf(parts));
        expect(redactor.text(once)).toBe(once);
      }),
      { numRuns: 2_000 },
    );
  });

  it('searches each part of a text for one private key, for any number of beginnings', () => {
    const before = process.cpuUsage();
    expect(redactor.text('-----BEGIN PRIVATE KEY-----\n'.repeat(30_000))).not.toContain('PRIVATE');
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });

  it('redacts a private key to its last line, also with another label inside', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----BEGIN \nAQEFAASCBKcwggSjAgEAAoIB\n-----END PRIVATE KEY-----';
    expect(redactor.text(`${key} after`)).toBe('[REDACTED] after');
    expect(redactor.text(`-----BEGIN PRIVATE KEY-----\n${key} after`)).toBe('[REDACTED]\n[REDACTED] after');
  });

  it('delays a bounded part of a text, also of an endless secret', () => {
    for (const piece of ['token=aaaaaaaa1', 'ghp_', 'a', '-----BEGIN PRIVATE KEY-----', 'AAAAAAAAAAAAAAAAAAAAAAAA', 'https://']) {
      const stream = redactor.stream();
      let came = 0;
      let went = 0;
      let most = 0;
      for (let n = 0; n < 5_000; n++) {
        const more = n === 0 ? piece : n % 50 === 0 ? '/+' : 'A1b2C3d4';
        came += more.length;
        // Counts the decided input rather than the output, since one mark replaces thousands of characters.
        stream.push(more);
        went = came - stream.heldLength;
        most = Math.max(most, stream.heldLength);
      }
      expect(most).toBeLessThan(17_000);
      expect(went).toBeGreaterThan(0);
    }
  });

  it('releases redacted lines at once: it delays nothing after a line break', () => {
    const stream = redactor.stream();
    expect(stream.push('compiling token.ts\n')).toBe('compiling token.ts\n');
    expect(stream.push('password: ')).toBe('password:');
    expect(stream.push('hunter2x')).toBe('');
    expect(stream.push('\nContinue? [y/N] ')).toBe(' [REDACTED]\nContinue? [y/N] ');
    expect(stream.flush()).toBe('');
  });

  it.each([
    ['password: hunter2x', 'password: [REDACTED]'],
    ['api_key=abc', 'api_key=[REDACTED]'],
    ['AWS_SECRET_ACCESS_KEY=abc', 'AWS_SECRET_ACCESS_KEY=[REDACTED]'],
    ['{"password":"CorrectHorseBatteryStaple"}', '{"password":"[REDACTED]"}'],
    ['{"a":"{\\"token\\":\\"x\\"}"}', '{"a":"{\\"token\\":\\"[REDACTED]\\"}"}'],
    ['Authorization: Bearer very-secret-token', 'Authorization: Bearer [REDACTED]'],
    ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic [REDACTED]'],
    ["-H 'Cookie: sid=abc123; theme=dark' https://x", "-H 'Cookie: [REDACTED]' https://x"],
    ['headers["x-api-key"] = "abcd1234"', 'headers["x-api-key"] = "[REDACTED]"'],
    ['> X-Custom: Bearer abc.def-123', '> X-Custom: Bearer [REDACTED]'],
    ['a page: ghp\\_abcdefghijklmnopqrstuvwxyz0123456789.', 'a page: [REDACTED].'],
    ['mysql --password hunter2x -u root', 'mysql --password [REDACTED] -u root'],
    ['redis://:p@ss@cache:6379/0', 'redis://:[REDACTED]@cache:6379/0'],
    ['export DB_PASS=a&b(c)', 'export DB_PASS=[REDACTED]'],
    ["password = 'let me in'", "password = 'let me in'"],
    ['head of a key: -----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIDAQABAoIBAQ\nand so on', 'head of a key: [REDACTED]\nand so on'],
  ])('redacts %j to %j [CC-50, PP-105, RP-28]', (text, shown) => {
    expect(redactor.text(text)).toBe(shown);
  });

  it.each([
    'commit deadbeefdeadbeefdeadbeefdeadbeefdeadbeef',
    'id 123e4567-e89b-12d3-a456-426614174000, note-123e4567-e89b-12d3-a456-426614174000',
    'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'const token: string = await next();',
    'login({ user, password, token: this.token, secret: config.secret })',
    'connect(password=password, token=get_token(), api_key=settings.api_key)',
    'if (token === expected) secret == other',
    'type: "password", password: { type: "string" }',
    '{"password": "Enter your password"}',
    'nextPageToken: "CAUQAA1234567", max_tokens=4096, tokens: 12',
    'PASSWORD=$DB_PASSWORD TOKEN=${TOKEN} secret: <your-secret-1>',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'PWD=/home/x, the task-force-of-the-new-century and risk-averse-people-2024',
    'https://example.com:8080/path@v1.2?x=a:b',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    'see the Bearer authentication scheme',
    'a flag --token-file secrets.txt --password',
    'tokenizer: fast, secretary: Ms. Moneypenny2',
  ])('leaves %j unredacted [PP-105]', (text) => {
    expect(redactor.text(text)).toBe(text);
  });

  it('finds random-looking tokens only on request, but no digests or ids [PP-105]', () => {
    const token = 'artifact_id=A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2';
    expect(redactor.text(token)).toBe(token);
    expect(random.text(token)).toBe('artifact_id=[REDACTED]');
    for (const harmless of [
      'deadbeefdeadbeefdeadbeefdeadbeefdeadbeef',
      'note-123e4567-e89b-12d3-a456-426614174000',
      'internationalisationalisations',
    ])
      expect(random.text(harmless)).toBe(harmless);
  });

  it('redacts JSON at any depth, by keys and by texts, and returns the secrets', () => {
    const value = {
      password: 'short',
      port: 5432,
      pin: [{ dbPassword: 12345678, apiKey: ['a', 'b'], token: null, note: 'use ghp_abcdefghijklmnopqrstuvwxyz0123456789 here' }],
      max_tokens: 100,
      nextPageToken: 'page-2',
    };
    expect(redactor.json(value)).toEqual({
      value: {
        password: '[REDACTED]',
        port: 5432,
        pin: [{ dbPassword: '[REDACTED]', apiKey: ['[REDACTED]', '[REDACTED]'], token: null, note: 'use [REDACTED] here' }],
        max_tokens: 100,
        nextPageToken: 'page-2',
      },
      secrets: ['short', '12345678', 'a', 'b', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'],
    });
    const harmless = { text: 'hello', deep: [{ a: 1 }] };
    expect(redactor.json(harmless).value).toBe(harmless);
  });

  it('redacts texts that are secret in any place, the longer of two', () => {
    const by = Redactor.of({ values: ['open-sesame', 'open-sesame-street'] });
    expect(by.text('xopen-sesame-streetx open-sesame!')).toBe('x[REDACTED]x [REDACTED]!');
    expect(by.withSecrets(['once-more']).text('open-sesame once-more')).toBe('[REDACTED] [REDACTED]');
    expect(by.withSecrets(['abc']).text('abc')).toBe('abc');
  });

  it.each(['ghp_', 'password=', '.eyJaaaaaaaaaa-eyJ', '-eyJ'])(
    'redacts arguments that repeat %s up to a megabyte, and all occurrences',
    (unit) => {
      const text = unit.repeat(1_000_000 / unit.length);
      const { value, secrets } = redactor.json({ text });
      expect(value.text.length).toBeLessThanOrEqual(text.length);
      // Pieces of a long secret that repeats itself are found wherever one fits: of the first repetition some characters may stay.
      expect(redactor.withSecrets(secrets).json({ text }).value.text.length).toBeLessThan(value.text.length + unit.length);
    },
  );

  it('numbers colliding keys in order, for any number of them', () => {
    const keys = Array.from({ length: 500 }, (_, n) => `ghp_${'a1b2'.repeat(8)}${1_000 + n}`);
    const looks = jest.spyOn(Set.prototype, 'has');
    const names = [...(Redactor.of().redactedKeys(Object.fromEntries(keys.map((key) => [key, 1]))) ?? [])];
    const { length } = looks.mock.calls;
    looks.mockRestore();
    expect(names.map(([, name]) => name)).toEqual(['[REDACTED]', ...keys.slice(1).map((_, n) => `[REDACTED] (${n + 2})`)]);
    expect(length).toBeLessThan(5_000);
  });

  it('looks for a thousand secrets of a text from outside, and removes the rest of it', () => {
    for (const piece of ['Bearer a1aaaaaa ', '-----BEGIN PRIVATE KEY-----\n', 'password=hunter22 ', `ghp_${'a1b2'.repeat(9)} `]) {
      const [before = ''] = redactor.json({ text: piece }).value.text.split('[REDACTED]');
      const { value, secrets } = redactor.json({ text: piece.repeat(20_000) });
      expect(value.text.startsWith(`${before}[REDACTED]`)).toBe(true);
      expect([value.text.split('[REDACTED]').length - 1, value.text.slice(-10), secrets.length]).toEqual([1_001, '[REDACTED]', 1_000]);
    }
  });

  it('looks for a thousand secrets of a value from outside, and removes its other texts without a look', () => {
    const scan = jest.spyOn(SecretFinder.prototype, 'scan');
    const texts = Array.from({ length: 20_000 }, (_, n) => `password=hunter${n}`);
    const passwords = Array.from({ length: 20_000 }, (_, n) => `hunter-${n}`);
    const { value, secrets } = redactor.json({ texts, more: ['', 'plain', 7], passwords });
    const scans = scan.mock.calls.length;
    scan.mockRestore();
    expect([value.texts[999], value.texts[1_000], value.more, value.passwords.at(-1)]).toEqual([
      'password=[REDACTED]',
      '[REDACTED]',
      ['', '[REDACTED]', 7],
      '[REDACTED]',
    ]);
    expect(secrets).toHaveLength(1_000);
    expect(scans).toBeLessThan(1_100);
  });

  it.each([
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl', '[REDACTED]'],
    ['eyJhbGciOiJI.abczdWIiOiIx.c2lnbmF0dXJlMTIzNA', 'eyJhbGciOiJI.abczdWIiOiIx.c2lnbmF0dXJlMTIzNA'],
    ['eyJhbGciOi.eyJzdWIiOiIxMjM0NTY3ODkw.c2lnbmF0dXJl', 'eyJhbGciOi.eyJzdWIiOiIxMjM0NTY3ODkw.c2lnbmF0dXJl'],
    ['eyJhbGciOiJIabcdef.eyJzdWIiOiIxMjM0.abc.defghij', 'eyJhbGciOiJIabcdef.eyJzdWIiOiIxMjM0.abc.defghij'],
  ])('redacts only the web token of %s', (text, shown) => {
    const by = Redactor.of();
    expect(by.text(text)).toBe(shown);
  });

  it('accepts further names of secrets', () => {
    expect(Redactor.of({ names: ['Kunden-Nummer'] }).text('kunden_nummer=12')).toBe('kunden_nummer=[REDACTED]');
  });
});
